"""The wheel: this package, and the program `advise` that the variable ADVISE_BUNDLE names. See scripts/make-wheel.sh.

Without the variable the wheel has no program and suits any system: the program must be on PATH.
"""

import os
import re
import shutil
import stat
import struct

from setuptools import setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ.get("ADVISE_BUNDLE", "")
MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine of ELF
PT_INTERP = 3


def version():
    """That of the project: from ADVISE_VERSION, else from CMakeLists.txt beside this folder."""
    given = os.environ.get("ADVISE_VERSION")
    if given:
        return given
    with open(os.path.join(HERE, "..", "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"^project\(advise VERSION ([0-9.]+) ", file.read(), re.MULTILINE).group(1)


def platform_of(program):
    """The platform tag: a program without an interpreter of its own needs no library of the system."""
    with open(program, "rb") as file:
        data = file.read(4096)
    if data[:5] != b"\x7fELF\x02" or data[5] != 1:
        raise SystemExit("setup.py: {}: no 64-bit program of Linux".format(program))
    machine = MACHINES.get(struct.unpack_from("<H", data, 18)[0])
    if machine is None:
        raise SystemExit("setup.py: {}: a program for another kind of machine".format(program))
    start = struct.unpack_from("<Q", data, 32)[0]
    size, count = struct.unpack_from("<HH", data, 54)
    kinds = [struct.unpack_from("<I", data, start + size * i)[0] for i in range(count)]
    return ("linux_" if PT_INTERP in kinds else "manylinux2014_") + machine


class BuildPackage(build_py):
    """Puts the program into the package."""

    def run(self):
        super().run()
        if PROGRAM:
            target = os.path.join(self.build_lib, "advise", "bin", "advise")
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(PROGRAM, target)
            os.chmod(target, stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)


class BuildWheel(bdist_wheel):
    """A wheel for any Python 3, and for the machine of the program."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = True  # nothing in it was compiled for a Python

    def get_tag(self):
        return ("py3", "none", platform_of(PROGRAM) if PROGRAM else "any")


with open(os.path.join(HERE, "README.md"), encoding="utf-8") as readme:
    DESCRIPTION = readme.read()

setup(
    name="gpu-advise",
    version=version(),
    description="Reads traces of GPU programs and says what to fix, the largest gain first",
    long_description=DESCRIPTION,
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.8",
    packages=["advise"],
    package_data={"advise": ["py.typed"]},
    # A package without the program must not hide the one on PATH behind a command of the same name.
    entry_points={"console_scripts": ["advise = advise.__main__:main"]} if PROGRAM else {},
    cmdclass={"build_py": BuildPackage, "bdist_wheel": BuildWheel},
    classifiers=[
        "License :: OSI Approved :: Apache Software License",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Topic :: Software Development :: Debuggers",
        "Typing :: Typed",
    ],
)
