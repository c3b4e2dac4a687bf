# spack repo add packaging/spack; spack dev-build advise@0.2.0   (in the source tree)
from spack.package import *


class Advise(CMakePackage):
    """Reads traces of GPU programs (Nsight Systems, Nsight Compute, PyTorch's profiler) and says what to fix first."""

    license("Apache-2.0")

    version("0.2.0")

    variant("mpi", default=False, description="Divide the reports of a run among the processes of mpirun or srun")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("d3@5.16", type="build")
    depends_on("cli11@2.1:")
    depends_on("fmt@9")
    depends_on("isa-l")
    depends_on("lua@5.4")
    depends_on("nlohmann-json@3.11:")
    depends_on("protobuf@3.21")
    depends_on("simdjson@3:")
    depends_on("sqlite@3.40:")
    depends_on("sqlitecpp@3.2:")
    depends_on("tl-expected")
    depends_on("tomlplusplus@3.3:")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("mpi", when="+mpi")

    generator("ninja")
    conflicts("%gcc@:11")

    def cmake_args(self):
        return [
            self.define("ADVISE_TESTS", False),
            self.define("ADVISE_SIMULATOR", False),
            self.define("ADVISE_STATIC", "OFF"),
            self.define("ADVISE_D3", self.spec["d3"].prefix.join("d3.min.js")),
            self.define("ADVISE_D3_LICENCE", self.spec["d3"].prefix.join("LICENSE")),
            self.define_from_variant("ADVISE_MPI", "mpi"),
        ]
