# The archive comes from a mirror of the site, or from the folder in which `spack install` is called: `npm pack d3@5.16.0`.
import os

from spack.package import *


class D3(Package):
    """A JavaScript library for charts: the HTML reports of advise hold it. Nothing is compiled."""

    homepage = "https://d3js.org"
    manual_download = True

    license("BSD-3-Clause")

    version("5.16.0", sha256="2e46da2089b9483a01f4cea7d27d62d463a31348ddd3c309a9a5dc2cb4568cfa", extension="tgz")

    def url_for_version(self, version):
        return f"file://{os.getcwd()}/d3-{version}.tgz"

    def install(self, spec, prefix):
        install("dist/d3.min.js", prefix)
        install("LICENSE", prefix)
