from spack.package import *


class D3(Package):
    """A JavaScript library for charts: the HTML reports of advise hold it. Nothing is compiled."""

    homepage = "https://d3js.org"
    url = "https://registry.npmjs.org/d3/-/d3-5.16.0.tgz"

    license("BSD-3-Clause")

    version("5.16.0", sha256="2e46da2089b9483a01f4cea7d27d62d463a31348ddd3c309a9a5dc2cb4568cfa")

    def install(self, spec, prefix):
        install("dist/d3.min.js", prefix)
        install("LICENSE", prefix)
