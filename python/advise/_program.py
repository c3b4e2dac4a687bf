"""Finds the program `advise` and runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Optional, Sequence

_BUNDLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "advise")


class AdviseError(RuntimeError):
    """The program could not be found, or could not do its work. `status` is its exit status, 0 if it did not run."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def program_path() -> str:
    """The program that is used: that of the variable ADVISE_PROGRAM, else that of the wheel, else that on PATH."""
    named = os.environ.get("ADVISE_PROGRAM")
    if named:
        if not _is_program(named):
            raise AdviseError("ADVISE_PROGRAM names no program: " + named)
        return named
    if _is_program(_BUNDLED):
        return _BUNDLED
    found = shutil.which("advise")
    if found is None:
        raise AdviseError(
            "the program advise was not found: this package holds none for this system, and there is none on PATH; "
            "name it in the variable ADVISE_PROGRAM"
        )
    return found


def run_program(arguments: Sequence[str], folder: Optional[str] = None) -> str:
    """What the program prints. Raises AdviseError with what it says on stderr, if it fails."""
    # The library of a preload is that of the training program, whose tools need not suit another.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    try:
        done = subprocess.run(
            [program_path(), *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
    except OSError as problem:
        raise AdviseError("the program advise cannot be run: {}".format(problem)) from problem
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        said = said[len("advise: ") :] if said.startswith("advise: ") else said
        raise AdviseError(said or "advise ended with status {}".format(done.returncode), done.returncode)
    return done.stdout.decode("utf-8", "replace")


def version() -> str:
    """The version of the program, such as "0.2.0"."""
    return run_program(["--version"]).split()[-1]
