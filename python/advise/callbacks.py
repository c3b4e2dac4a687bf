"""The same for loops that a framework owns. Each framework is imported when its callback is made, and not before."""

from __future__ import annotations

import importlib
import sys
from typing import Any, Dict, Sequence

from ._program import AdviseError
from .profiling import Handler, Profile, profile


def _import_first(names: Sequence[str], purpose: str) -> Any:
    """The first of the modules that the program has imported, else the first that is installed."""
    for name in names:
        if sys.modules.get(name) is not None:
            return sys.modules[name]
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise AdviseError("{} needs {}, which is not installed".format(purpose, " or ".join(names)))


def lightning_callback(steps: int = 5, warmup: int = 3, **options: Any) -> Any:
    """For Trainer(callbacks=[advise.lightning_callback()]). The parameters are those of profile()."""
    lightning = _import_first(["lightning.pytorch", "pytorch_lightning"], "lightning_callback")

    class AdviseCallback(lightning.Callback):  # type: ignore[misc, name-defined]
        """Profiles some training batches, and prints what to fix."""

        def __init__(self) -> None:
            super().__init__()
            self.profile: Profile = profile(steps, warmup, **options)

        def on_train_start(self, *_: Any) -> None:
            """Begins."""
            self.profile.start()

        def on_train_batch_end(self, *_: Any, **__: Any) -> None:
            """Counts a batch."""
            self.profile.step()

        def on_train_end(self, *_: Any) -> None:
            """Ends, if the training is shorter than what was to be profiled."""
            self.profile.stop()

        def on_exception(self, *_: Any) -> None:
            """Ends without a list."""
            self.profile.stop(failed=True)

    return AdviseCallback()


def transformers_callback(steps: int = 5, warmup: int = 3, **options: Any) -> Any:
    """For Trainer(callbacks=[advise.transformers_callback()]). The parameters are those of profile()."""
    transformers = _import_first(["transformers"], "transformers_callback")

    class AdviseCallback(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
        """Profiles some training steps, and prints what to fix."""

        def __init__(self) -> None:
            super().__init__()
            self.profile: Profile = profile(steps, warmup, **options)

        def on_train_begin(self, *_: Any, **__: Any) -> None:
            """Begins."""
            self.profile.start()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            """Counts a step."""
            self.profile.step()

        def on_train_end(self, *_: Any, **__: Any) -> None:
            """Ends, if the training is shorter than what was to be profiled."""
            self.profile.stop()

    return AdviseCallback()


def accelerate_kwargs(steps: int = 5, warmup: int = 3, record_shapes: bool = True, **options: Any) -> Any:
    """For Accelerator(kwargs_handlers=[advise.accelerate_kwargs()]), then `with accelerator.profile() as prof:`.

    The loop calls prof.step() at the end of each step. `options` are those of handler().
    """
    accelerate = _import_first(["accelerate"], "accelerate_kwargs")
    schedule: Dict[str, int] = {"wait": 0, "warmup": warmup, "active": steps, "repeat": 1}
    return accelerate.ProfileKwargs(
        schedule_option=schedule, on_trace_ready=Handler(**options), record_shapes=record_shapes
    )
