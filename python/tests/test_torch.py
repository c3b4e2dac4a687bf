"""With the real PyTorch on a CPU: there is no GPU to judge, and the list says so."""

import io
import os
import subprocess
import sys
import unittest
from contextlib import redirect_stderr
from unittest import mock

import advise
import stand_ins
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

    @unittest.skipIf(torch is not None and not torch.distributed.is_available(), "PyTorch without torch.distributed")
    def test_two_processes_of_torch_distributed(self):
        code = (
            "import sys, torch, advise\n"
            "rank = int(sys.argv[1])\n"
            "torch.distributed.init_process_group('gloo', init_method=sys.argv[2], rank=rank, world_size=2)\n"
            "layer = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))\n"
            "with advise.profile(steps=2, warmup=1) as run:\n"
            "    for _ in range(4):\n"
            "        layer(torch.randn(4, 8)).sum().backward()\n"
            "        run.step()\n"
            "print(advise.current_rank(), run.report is not None and len(run.report.inputs))\n"
        )
        meeting = "file://" + os.path.join(os.getcwd(), "meeting")
        workers = [
            subprocess.Popen([sys.executable, "-c", code, str(rank), meeting], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for rank in (0, 1)
        ]
        said = [worker.communicate(timeout=120) for worker in workers]
        self.assertEqual([worker.returncode for worker in workers], [0, 0], said)
        self.assertTrue(said[0][0].decode().endswith("Rank(rank=0, world=2) 2\n"), said)
        self.assertEqual(said[0][0].decode().count(NO_GPU), 1)
        self.assertEqual(said[1][0].decode(), "Rank(rank=1, world=2) False\n")

    def test_the_handler_of_a_profiler(self):
        schedule = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=2)
        ready = advise.handler(show=self.shown.append)
        with torch.profiler.profile(schedule=schedule, on_trace_ready=ready) as profiler:
            for _ in range(10):
                self.train()
                profiler.step()
        self.assertEqual(len(self.shown), 2)  # a list per cycle
        self.assertEqual(ready.report.verdict, NO_GPU)

    def test_frameworks(self):
        def model(_):
            self.train()

        stand_in = {"lightning.pytorch": stand_ins.lightning()}
        with mock.patch.dict(sys.modules, stand_in):
            callback = advise.lightning_callback(steps=2, warmup=1, show=self.shown.append)
        stand_in["lightning.pytorch"].Trainer(callbacks=[callback]).fit(model, range(5))
        self.assertEqual(len(self.shown), 1)

        stand_in = {"transformers": stand_ins.transformers()}
        with mock.patch.dict(sys.modules, stand_in):
            callback = advise.transformers_callback(steps=2, warmup=1, show=self.shown.append)
        stand_in["transformers"].Trainer(model, "args", callbacks=[callback], accumulation=2).train(range(10))
        self.assertEqual(len(self.shown), 2)

        stand_in = {"accelerate": stand_ins.accelerate()}
        with mock.patch.dict(sys.modules, stand_in):
            kwargs = advise.accelerate_kwargs(steps=2, warmup=1, show=self.shown.append)
        with stand_in["accelerate"].Accelerator(kwargs_handlers=[kwargs]).profile() as profiler:
            for _ in range(5):
                self.train()
                profiler.step()
        self.assertEqual(len(self.shown), 3)
        self.assertTrue(all(NO_GPU in text for text in self.shown))


if __name__ == "__main__":
    unittest.main()
