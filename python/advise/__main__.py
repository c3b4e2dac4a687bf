"""`python -m advise` and the command `advise` of the wheel: the program itself."""

import os
import sys

from ._program import AdviseError, program_path


def main() -> None:
    """Becomes the program, with the arguments of this one."""
    try:
        program = program_path()
        os.execv(program, [program, *sys.argv[1:]])
    except (AdviseError, OSError) as problem:
        sys.exit("advise: {}".format(problem))


if __name__ == "__main__":
    main()
