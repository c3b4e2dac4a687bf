"""Stand-ins of Lightning, Transformers and Accelerate, which Debian does not have: as much of them as a callback meets.

Each calls what its framework calls, in that order and with those arguments, as the documentation of Lightning 2, Transformers 4
and Accelerate 1 says. A hook that a callback does not know is one of the base class, so that a wrong name or argument shows.
"""

import importlib
import types
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional

_LIGHTNING_HOOKS = (
    "setup teardown on_fit_start on_fit_end on_sanity_check_start on_sanity_check_end on_train_start on_train_end "
    "on_train_epoch_start on_train_epoch_end on_train_batch_start on_train_batch_end on_validation_start on_validation_end "
    "on_before_zero_grad on_before_backward on_after_backward on_before_optimizer_step on_exception"
)
_TRANSFORMERS_EVENTS = (
    "on_init_end on_train_begin on_train_end on_epoch_begin on_epoch_end on_step_begin on_substep_end "
    "on_pre_optimizer_step on_optimizer_step on_step_end on_evaluate on_log on_save on_prediction_step"
)


def _base(name: str, hooks: str, **more: Any) -> type:
    """A class whose hooks do nothing."""
    return type(name, (), {**{hook: lambda self, *_, **__: None for hook in hooks.split()}, **more})


def lightning() -> types.ModuleType:
    """The module lightning.pytorch."""
    module: Any = types.ModuleType("lightning.pytorch")
    module.Callback = _base(
        "Callback", _LIGHTNING_HOOKS, state_dict=lambda self: {}, load_state_dict=lambda self, state_dict: None
    )

    class Trainer:
        """Fits a module to batches; each of them is one optimizer step."""

        def __init__(self, callbacks, max_epochs=1):
            for callback in callbacks:
                if not isinstance(callback, module.Callback):
                    raise TypeError("callbacks are of lightning.pytorch.Callback")
            self.callbacks, self.max_epochs, self.module = callbacks, max_epochs, None

        def _call(self, hook, *arguments):
            for callback in self.callbacks:
                getattr(callback, hook)(self, self.module, *arguments)

        def fit(self, model, batches):
            self.module = model
            self._call("setup", "fit")
            try:
                self._fit(model, batches)
            except BaseException as problem:
                self._call("on_exception", problem)
                self._call("teardown", "fit")
                raise
            self._call("teardown", "fit")

        def _fit(self, model, batches):
            self._call("on_fit_start")
            for hook in ("on_sanity_check_start", "on_validation_start", "on_validation_end", "on_sanity_check_end"):
                self._call(hook)
            self._call("on_train_start")
            for _ in range(self.max_epochs):
                self._call("on_train_epoch_start")
                for index, batch in enumerate(batches):
                    self._call("on_train_batch_start", batch, index)
                    self._call("on_before_zero_grad", "optimizer")
                    loss = model(batch)
                    self._call("on_before_backward", loss)
                    self._call("on_after_backward")
                    self._call("on_before_optimizer_step", "optimizer")
                    self._call("on_train_batch_end", {"loss": loss}, batch, index)
                self._call("on_validation_start")
                self._call("on_validation_end")
                saved = [callback.state_dict() for callback in self.callbacks]
                assert all(isinstance(state, dict) for state in saved)
                self._call("on_train_epoch_end")
            self._call("on_train_end")
            self._call("on_fit_end")

    module.Trainer = Trainer
    return module


def transformers() -> types.ModuleType:
    """The module transformers."""
    module: Any = types.ModuleType("transformers")
    module.TrainerCallback = _base("TrainerCallback", _TRANSFORMERS_EVENTS)

    class Trainer:
        """Trains a model on batches; `accumulation` of them are one optimizer step."""

        def __init__(self, model, args, callbacks, accumulation=1):
            # A class is taken as well, and made an object.
            self.callbacks = [callback() if isinstance(callback, type) else callback for callback in callbacks]
            self.model, self.args, self.accumulation = model, args, accumulation
            self.state = types.SimpleNamespace(global_step=0)
            self.control = types.SimpleNamespace(should_training_stop=False)
            self._event("on_init_end")

        def _event(self, event, **more):
            given = dict.fromkeys(("processing_class", "optimizer", "lr_scheduler", "train_dataloader", "eval_dataloader"))
            for callback in self.callbacks:
                hook: Callable[..., Any] = getattr(callback, event)
                changed = hook(self.args, self.state, self.control, model=self.model, **given, **more)
                if changed is not None:
                    self.control = changed

        def train(self, batches):
            self._event("on_train_begin")
            self._event("on_epoch_begin")
            for index, batch in enumerate(batches):
                first = index % self.accumulation == 0
                last = index % self.accumulation == self.accumulation - 1
                if first:
                    self._event("on_step_begin")
                self.model(batch)
                if not last:
                    self._event("on_substep_end")
                    continue
                self._event("on_pre_optimizer_step")
                self._event("on_optimizer_step")
                self.state.global_step += 1
                self._event("on_step_end")
                self._event("on_log", logs={"loss": 0.0})
                if self.control.should_training_stop:
                    break
            self._event("on_epoch_end")
            self._event("on_evaluate", metrics={})
            self._event("on_save")
            self._event("on_train_end")

    module.Trainer = Trainer
    return module


def accelerate() -> types.ModuleType:
    """The module accelerate, which profiles with the torch.profiler that can be imported."""
    module: Any = types.ModuleType("accelerate")

    class KwargsHandler:
        """What an Accelerator takes."""

    @dataclass
    class ProfileKwargs(KwargsHandler):
        """The fields are all that there are: another one is an error."""

        activities: Optional[list] = None
        schedule_option: Optional[Dict[str, int]] = None
        on_trace_ready: Optional[Callable[..., Any]] = None
        record_shapes: bool = False
        profile_memory: bool = False
        with_stack: bool = False
        with_flops: bool = False
        with_modules: bool = False
        output_trace_dir: Optional[str] = None

        def build(self):
            """A profiler, which begins when it is entered."""
            profiler: Any = importlib.import_module("torch.profiler")
            schedule = profiler.schedule(**self.schedule_option) if self.schedule_option is not None else None
            return profiler.profile(
                activities=self.activities,
                schedule=schedule,
                on_trace_ready=self.on_trace_ready,
                record_shapes=self.record_shapes,
                profile_memory=self.profile_memory,
                with_stack=self.with_stack,
                with_flops=self.with_flops,
                with_modules=self.with_modules,
            )

    class Accelerator:
        """Keeps the handler until profile() is called."""

        def __init__(self, kwargs_handlers):
            self.handler = ProfileKwargs()
            for handler in kwargs_handlers:
                assert isinstance(handler, KwargsHandler), handler
                if isinstance(handler, ProfileKwargs):
                    self.handler = handler

        @contextmanager
        def profile(self, handler=None):
            with (handler or self.handler).build() as profiler:
                yield profiler

    module.KwargsHandler, module.ProfileKwargs, module.Accelerator = KwargsHandler, ProfileKwargs, Accelerator
    return module
