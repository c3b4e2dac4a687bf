"""With the real PyTorch on a CPU: there is no GPU to judge, and the list says so."""

import io
import unittest
from contextlib import redirect_stderr

import advise
from support import InFolder

try:
    import torch
except ImportError:
    torch = None

NO_GPU = "No GPU activity was recorded, so there is nothing to judge."


@unittest.skipIf(torch is None, "PyTorch is not installed")
class TorchTest(InFolder):
    def setUp(self):
        super().setUp()
        self.shown = []
        self.model = torch.nn.Linear(64, 64)

    def train(self):
        self.model(torch.randn(32, 64)).sum().backward()

    def test_a_block(self):
        with advise.profile(steps=3, warmup=1, show=self.shown.append) as run:
            for _ in range(6):
                self.train()
                run.step()
        self.assertEqual(len(self.shown), 1)
        self.assertEqual(self.shown[0].count(NO_GPU), 1)
        self.assertEqual(run.report.verdict, NO_GPU)
        self.assertEqual(run.report.run.kind, "no-gpu")
        self.assertTrue(all(item.severity == "info" for item in run.report.findings))
        self.assertIn(NO_GPU, run.report._repr_html_())

    def test_a_block_that_ends_early(self):
        with advise.profile(steps=5, warmup=1, show=self.shown.append) as run:
            for _ in range(3):
                self.train()
                run.step()
        self.assertEqual(len(self.shown), 1)

    def test_a_block_without_profiled_steps(self):
        err = io.StringIO()
        with redirect_stderr(err):
            with advise.profile(steps=5, warmup=2, show=self.shown.append) as run:
                self.train()
                run.step()
            with advise.profile(steps=5, warmup=2, show=self.shown.append) as run:
                self.train()
        self.assertEqual(self.shown, [])
        self.assertIn("the loop ended after 1 of 2 warm-up steps", err.getvalue())
        self.assertIn("step() was never called", err.getvalue())

    def test_a_block_that_fails(self):
        with self.assertRaises(ZeroDivisionError):
            with advise.profile(steps=2, warmup=1, show=self.shown.append) as run:
                self.train()
                run.step()
                self.train()
                run.step()
                raise ZeroDivisionError
        self.assertEqual(self.shown, [])

    def test_the_handler_of_a_profiler(self):
        schedule = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=2)
        ready = advise.handler(show=self.shown.append)
        with torch.profiler.profile(schedule=schedule, on_trace_ready=ready) as profiler:
            for _ in range(10):
                self.train()
                profiler.step()
        self.assertEqual(len(self.shown), 2)  # a list per cycle
        self.assertEqual(ready.report.verdict, NO_GPU)


if __name__ == "__main__":
    unittest.main()
