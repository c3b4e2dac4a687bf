"""Callbacks, against stand-ins that call and check as the frameworks do; none of these is installed here."""

import sys
import types
import unittest
from unittest import mock

import advise
import stand_ins
from support import FakeProfiler, InFolder, trace_of


def stand_in_torch():
    """As much of torch.profiler as profile() uses; the trace is ready when the schedule says so."""
    torch = types.ModuleType("torch")
    torch.cuda = types.SimpleNamespace(is_available=lambda: False)
    profiler = types.ModuleType("torch.profiler")
    profiler.ProfilerActivity = types.SimpleNamespace(CPU="cpu", CUDA="cuda")
    profiler.schedule = lambda **given: given

    class Profile(FakeProfiler):
        def __init__(self, schedule, on_trace_ready, **_):
            super().__init__(trace_of(0))
            self.on_trace_ready = on_trace_ready
            self._ready_at = schedule["warmup"] + schedule["active"]
            self._first = schedule["warmup"]
            self._steps = 0

        def __enter__(self):
            return self

        def __exit__(self, *_):
            if self._first <= self._steps < self._ready_at and self.on_trace_ready:
                self.on_trace_ready(self)

        def step(self):
            self._steps += 1
            if self._steps == self._ready_at:
                self.on_trace_ready(self)

    profiler.profile = Profile
    torch.profiler = profiler
    return {"torch": torch, "torch.profiler": profiler}


class FrameworkTest(InFolder):
    def setUp(self):
        super().setUp()
        self.shown = []
        self._modules = mock.patch.dict(sys.modules, stand_in_torch())
        self._modules.start()

    def tearDown(self):
        self._modules.stop()
        super().tearDown()

    def test_a_block_prints_once(self):
        with advise.profile(steps=2, warmup=1, show=self.shown.append) as run:
            for step in range(6):
                self.assertEqual(len(self.shown), 1 if step >= 3 else 0)
                run.step()
        self.assertEqual(len(self.shown), 1)
        self.assertEqual(run.report.run.kind, "training")

    def test_a_block_that_ends_early_has_the_list_of_its_steps(self):
        with advise.profile(steps=5, warmup=1, show=self.shown.append) as run:
            run.step()
            run.step()
        self.assertEqual(len(self.shown), 1)

    def test_a_block_that_fails_has_no_list(self):
        with self.assertRaises(ZeroDivisionError):
            with advise.profile(steps=5, warmup=1, show=self.shown.append) as run:
                run.step()
                run.step()
                raise ZeroDivisionError
        self.assertEqual(self.shown, [])
        self.assertIsNone(run.report)

    def test_lightning(self):
        lightning = stand_ins.lightning()
        with mock.patch.dict(sys.modules, {"lightning.pytorch": lightning}):
            callback = advise.lightning_callback(steps=2, warmup=1, show=self.shown.append)
        trainer = lightning.Trainer(callbacks=[callback], max_epochs=2)
        trainer.fit(len, [[1]] * 4)
        self.assertEqual(len(self.shown), 1)
        trainer.fit(len, [[1]] * 4)  # the same callback, in a second training
        self.assertEqual(len(self.shown), 2)

    def test_lightning_that_fails_has_no_list(self):
        lightning = stand_ins.lightning()
        with mock.patch.dict(sys.modules, {"lightning.pytorch": lightning}):
            callback = advise.lightning_callback(steps=3, warmup=1, show=self.shown.append)
        with self.assertRaises(TypeError):
            lightning.Trainer(callbacks=[callback]).fit(len, [[1], [1], 0])
        self.assertEqual(self.shown, [])

    def test_transformers(self):
        transformers = stand_ins.transformers()
        with mock.patch.dict(sys.modules, {"transformers": transformers}):
            callback = advise.transformers_callback(steps=2, warmup=1, show=self.shown.append)
        trainer = transformers.Trainer(len, "args", callbacks=[callback])
        control = trainer.control
        trainer.train([[1]] * 6)
        self.assertEqual(len(self.shown), 1)
        self.assertIs(trainer.control, control)
        self.assertEqual(trainer.state.global_step, 6)  # nothing asked it to stop

    def test_transformers_that_ends_earlier_than_planned(self):
        transformers = stand_ins.transformers()
        with mock.patch.dict(sys.modules, {"transformers": transformers}):
            callback = advise.transformers_callback(steps=5, warmup=1, show=self.shown.append)
        # Eight batches are two steps of four.
        transformers.Trainer(len, "args", callbacks=[callback], accumulation=4).train([[1]] * 8)
        self.assertEqual(len(self.shown), 1)

    def test_accelerate(self):
        accelerate = stand_ins.accelerate()
        with mock.patch.dict(sys.modules, {"accelerate": accelerate}):
            kwargs = advise.accelerate_kwargs(steps=2, warmup=1, show=self.shown.append)
        accelerator = accelerate.Accelerator(kwargs_handlers=[kwargs])
        with accelerator.profile() as profiler:
            for step in range(5):
                self.assertEqual(len(self.shown), 1 if step >= 3 else 0)
                profiler.step()
        self.assertEqual(len(self.shown), 1)

    def test_a_framework_that_is_missing_is_named(self):
        with mock.patch.dict(sys.modules, {"lightning.pytorch": None, "pytorch_lightning": None}):
            with self.assertRaisesRegex(advise.AdviseError, "needs lightning.pytorch or pytorch_lightning"):
                advise.lightning_callback()


if __name__ == "__main__":
    unittest.main()
