"""Reads traces of GPU programs and says what to fix first.

    report = advise.read("run.sqlite")          # typed findings, facts, budget; a rich display in notebooks

    with advise.profile(steps=5) as run:        # profiles five steps of a PyTorch loop, prints the list
        for batch in loader:
            train(batch)
            run.step()

The analysis is done by the program `advise`, which is part of the wheel. Nothing but the standard library is imported.
"""

from ._program import AdviseError, program_path, version
from .callbacks import accelerate_kwargs, lightning_callback, transformers_callback
from .profiling import Handler, Profile, handler, profile
from .ranks import Rank, current_rank
from .report import (
    Budget,
    Device,
    Efficiency,
    Evidence,
    Facts,
    Finding,
    Findings,
    Fix,
    Input,
    NotChecked,
    PlanStep,
    Report,
    Run,
    Saving,
    Where,
    Window,
    read,
)

__all__ = [
    "AdviseError",
    "Budget",
    "Device",
    "Efficiency",
    "Evidence",
    "Facts",
    "Finding",
    "Findings",
    "Fix",
    "Handler",
    "Input",
    "NotChecked",
    "PlanStep",
    "Profile",
    "Rank",
    "Report",
    "Run",
    "Saving",
    "Where",
    "Window",
    "accelerate_kwargs",
    "current_rank",
    "handler",
    "lightning_callback",
    "profile",
    "program_path",
    "read",
    "transformers_callback",
    "version",
]
