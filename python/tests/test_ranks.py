"""Several processes: each writes its trace, the first prints one list, and none waits for ever."""

import io
import os
import subprocess
import sys
import threading
import time
import unittest
from contextlib import redirect_stderr, redirect_stdout

import advise
from support import FakeProfiler, InFolder, environment, trace_of

WORKER = """
import sys, time
sys.path.insert(0, {tests!r})
import advise
from support import FakeProfiler, trace_of
rank, late = int(sys.argv[1]), float(sys.argv[2])
ready = advise.handler("traces", wait_seconds=30)
time.sleep(late)
ready(FakeProfiler(trace_of(rank)))
print("rank", rank, "has a report:", ready.report is not None)
"""


class RankTest(InFolder):
    def test_launchers_tell_the_rank(self):
        self.assertEqual(advise.current_rank(), (0, 1))
        for rank, world in (
            ("RANK", "WORLD_SIZE"),
            ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
            ("PMI_RANK", "PMI_SIZE"),
            ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
            ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
        ):
            with environment(**{rank: "3", world: "8"}):
                self.assertEqual(advise.current_rank(), (3, 8))
        with environment(RANK="x", WORLD_SIZE="8"):
            self.assertEqual(advise.current_rank(), (0, 1))
        # A job script of Slurm is one process, though its job has eight tasks.
        with environment(SLURM_PROCID="0", SLURM_NTASKS="8"):
            self.assertEqual(advise.current_rank(), (0, 1))

    def test_one_list_for_all_ranks(self):
        code = WORKER.format(tests=os.path.dirname(os.path.abspath(__file__)))
        # Rank 0 is done first, and must wait for the others.
        workers = [
            subprocess.Popen(
                [sys.executable, "-c", code, str(rank), str(0.4 * rank)],
                env=dict(os.environ, RANK=str(rank), WORLD_SIZE="4"),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for rank in range(4)
        ]
        said = [worker.communicate() for worker in workers]
        self.assertEqual([worker.returncode for worker in workers], [0] * 4, said)
        first = said[0][0].decode()
        self.assertIn("4 ranks", first)
        self.assertIn("rank 0 has a report: True", first)
        for rank in (1, 2, 3):
            self.assertEqual(said[rank], ("rank {} has a report: False\n".format(rank).encode(), b""))
        self.assertEqual(sorted(os.listdir("traces")), ["rank_{}.pt.trace.json".format(rank) for rank in range(4)])

    def run_alone(self, world, **options):
        """Rank 0 of `world`; what it prints on stdout and stderr, and the handler."""
        out, err = io.StringIO(), io.StringIO()
        with environment(RANK="0", WORLD_SIZE=str(world)), redirect_stdout(out), redirect_stderr(err):
            ready = advise.handler("traces", **options)
            ready(FakeProfiler(trace_of(0)))
        return out.getvalue(), err.getvalue(), ready

    def test_a_rank_that_is_gone_is_not_waited_for_longer_than_said(self):
        start = time.monotonic()
        out, err, ready = self.run_alone(2, wait_seconds=0.3)
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual(err, "advise: no trace of rank 1 within 0.3 s: the list is that of the other ranks\n")
        self.assertIn("Where the time went", out)
        self.assertEqual(len(ready.report.inputs), 1)

    def test_the_traces_of_an_earlier_run_are_not_those_of_this_one(self):
        with environment(RANK="1", WORLD_SIZE="2"):
            advise.handler("traces")(FakeProfiler(trace_of(1)))
        _, err, ready = self.run_alone(2, wait_seconds=0.3)
        self.assertIn("no trace of rank 1", err)
        self.assertEqual(len(ready.report.inputs), 1)

    def test_a_trace_that_replaces_an_old_one_counts(self):
        def other(when):
            time.sleep(when)
            FakeProfiler(trace_of(1)).export_chrome_trace("unfinished")
            os.replace("unfinished", "traces/rank_1.pt.trace.json")

        os.makedirs("traces")
        other(0)
        thread = threading.Thread(target=other, args=(0.5,))
        with environment(RANK="0", WORLD_SIZE="2"):
            ready = advise.handler("traces", show=None)
            thread.start()
            ready(FakeProfiler(trace_of(0)))
        thread.join()
        self.assertEqual(len(ready.report.inputs), 2)

    def test_each_cycle_has_its_traces(self):
        ready = advise.handler("traces", show=None)
        ready(FakeProfiler(trace_of(0)))
        ready(FakeProfiler(trace_of(0)))
        self.assertEqual(sorted(os.listdir("traces")), ["cycle_2", "rank_0.pt.trace.json"])
        self.assertIn("cycle_2", ready.report.paths[0])

    def test_what_goes_wrong_does_not_end_the_training(self):
        class Broken:
            def export_chrome_trace(self, path):
                raise OSError("the disk is full")

        err = io.StringIO()
        with redirect_stderr(err):
            advise.handler("traces")(Broken())
            with environment(ADVISE_PROGRAM="/nowhere"):
                advise.handler("traces")(FakeProfiler(trace_of(0)))
        self.assertEqual(
            err.getvalue(), "advise: the disk is full\nadvise: ADVISE_PROGRAM names no program: /nowhere\n"
        )


if __name__ == "__main__":
    unittest.main()
