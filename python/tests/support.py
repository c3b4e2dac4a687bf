"""What the tests share: reports that the simulator made, and a profiler that writes one of them."""

import os
import shutil
import tempfile
import unittest
from contextlib import contextmanager

DEMO = os.environ.get("ADVISE_TEST_DEMO", "")  # of Nsight Systems, with a loader and pageable copies
RANKS = os.environ.get("ADVISE_TEST_RANKS", "")  # a folder of traces of PyTorch's profiler: rank_0.json …


class FakeProfiler:
    """Writes a trace that is there already, as torch.profiler.profile would."""

    def __init__(self, trace):
        self._trace = trace

    def export_chrome_trace(self, path):
        shutil.copyfile(self._trace, path)


def trace_of(rank):
    return os.path.join(RANKS, "rank_{}.json".format(rank))


@contextmanager
def environment(**values):
    """Sets variables (None: removes them) and undoes it."""
    saved = {name: os.environ.get(name) for name in values}
    try:
        for name, value in values.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        yield
    finally:
        for name, value in saved.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


# No launcher's variables but those that a test sets.
NO_LAUNCHER = dict.fromkeys(
    ("RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE")
    + ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS")
)


class InFolder(unittest.TestCase):
    """Each test in an empty folder of its own, as one process of no launcher."""

    def setUp(self):
        self._before = os.getcwd()
        self._folder = tempfile.TemporaryDirectory()
        os.chdir(self._folder.name)
        self._variables = environment(**NO_LAUNCHER)
        self._variables.__enter__()

    def tearDown(self):
        self._variables.__exit__(None, None, None)
        os.chdir(self._before)
        self._folder.cleanup()
