"""Profiling with PyTorch, and the advice when the profiled steps are over.

Each rank writes its trace into one folder. Rank 0 waits until the others have written theirs, by looking for the files and
not longer than a time limit, and then prints the list. No process calls another, so none can hang on one that is gone.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ._program import AdviseError
from .ranks import Rank, current_rank
from .report import PathLike, Report

Printer = Callable[[str], None]

_PAUSE_SECONDS = 0.1


def _say(text: str) -> None:
    print(text, flush=True)


def _warn(text: str) -> None:
    print("advise: " + text, file=sys.stderr, flush=True)


def _stamp(path: str) -> Optional[Tuple[int, int, int]]:
    """Tells a file from another that had its name before."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_ino, status.st_mtime_ns, status.st_size)


class Handler:
    """For on_trace_ready of torch.profiler.profile; see handler()."""

    def __init__(
        self,
        folder: PathLike = "advise-traces",
        show: Optional[Printer] = _say,
        wait_seconds: float = 60.0,
        options: Sequence[str] = (),
    ) -> None:
        self.folder = os.path.abspath(os.fspath(folder))
        self.report: Optional[Report] = None  # of the last cycle, on rank 0
        self._show = show
        self._wait_seconds = wait_seconds
        self._options = list(options)
        self._cycles = 0
        self._old: Dict[str, Tuple[int, int, int]] = {}
        self._remember_old()

    def _remember_old(self) -> None:
        """Traces of an earlier run, which rank 0 must not take for those of this one."""
        for place, _, names in os.walk(self.folder):
            for name in names:
                stamp = _stamp(os.path.join(place, name))
                if stamp is not None:
                    self._old[os.path.join(place, name)] = stamp

    def _path(self, rank: int) -> str:
        # The first cycle, usually the only one, has no folder of its own.
        place = self.folder if self._cycles == 1 else os.path.join(self.folder, "cycle_{}".format(self._cycles))
        return os.path.join(place, "rank_{}.pt.trace.json".format(rank))

    def __call__(self, profiler: Any) -> None:
        """Writes this rank's trace; on rank 0, prints the list. What goes wrong is said, and the training goes on."""
        self._cycles += 1
        own = current_rank()
        try:
            self._write(profiler, self._path(own.rank))
            if own.rank == 0:
                self._advise(own)
        except (AdviseError, OSError, RuntimeError) as problem:
            _warn(str(problem))

    def _write(self, profiler: Any, path: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # Whoever sees the name sees the whole trace.
        unfinished = os.path.join(os.path.dirname(path), ".unfinished-" + os.path.basename(path))
        profiler.export_chrome_trace(unfinished)
        os.replace(unfinished, path)

    def _is_new(self, path: str) -> bool:
        stamp = _stamp(path)
        return stamp is not None and stamp != self._old.get(path)

    def _wait(self, paths: Sequence[str]) -> List[str]:
        """Those of the paths that are there when all are, or when the time is up."""
        end = time.monotonic() + self._wait_seconds
        while True:
            there = [path for path in paths if self._is_new(path)]
            if len(there) == len(paths) or time.monotonic() >= end:
                return there
            time.sleep(_PAUSE_SECONDS)

    def _advise(self, own: Rank) -> None:
        wanted = [self._path(rank) for rank in range(own.world)]
        there = self._wait(wanted)
        if len(there) < len(wanted):
            missing = [str(rank) for rank, path in enumerate(wanted) if path not in there]
            _warn(
                "no trace of rank {} within {:g} s: the list is that of the other ranks".format(
                    ", ".join(missing), self._wait_seconds
                )
            )
        self.report = Report([os.path.relpath(path) for path in there], self._options)
        if self._show is not None:
            self._show(str(self.report))


def handler(
    folder: PathLike = "advise-traces",
    show: Optional[Printer] = _say,
    wait_seconds: float = 60.0,
    options: Sequence[str] = (),
) -> Handler:
    """For torch.profiler.profile(on_trace_ready=advise.handler()): writes the trace, and prints what to fix.

    folder        where the traces go, one per rank; all ranks must see it
    show          gets the list as text; None: nothing is printed, the list is in `handler.report`
    wait_seconds  how long rank 0 waits for the traces of the others
    options       of the program, for example ["--top", "3"]
    """
    return Handler(folder, show, wait_seconds, options)


class Profile:
    """Profiles some steps of a loop; see profile()."""

    def __init__(
        self,
        steps: int = 5,
        warmup: int = 3,
        on_trace_ready: Optional[Callable[[Any], None]] = None,
        record_shapes: bool = True,
        with_stack: bool = False,
    ) -> None:
        if steps < 1 or warmup < 1:
            raise ValueError("steps and warmup must be at least 1")
        self.handler: Callable[[Any], None] = on_trace_ready or Handler()
        self._steps = steps
        self._warmup = warmup
        self._record_shapes = record_shapes
        self._with_stack = with_stack
        self._profiler: Any = None
        self._seen = 0

    @property
    def report(self) -> Optional[Report]:
        """The list, once the profiled steps are over; only on rank 0."""
        return getattr(self.handler, "report", None)

    def start(self) -> None:
        """Begins to count steps."""
        torch: Any = importlib.import_module("torch")
        torch_profiler: Any = importlib.import_module("torch.profiler")
        activities = [torch_profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(torch_profiler.ProfilerActivity.CUDA)
        self._seen = 0
        self._profiler = torch_profiler.profile(
            activities=activities,
            schedule=torch_profiler.schedule(wait=0, warmup=self._warmup, active=self._steps, repeat=1),
            on_trace_ready=self.handler,
            record_shapes=self._record_shapes,
            with_stack=self._with_stack,
        )
        self._profiler.__enter__()

    def step(self) -> None:
        """Ends a step. Once the profiled ones are over, the list is printed and further calls cost nothing."""
        if self._profiler is None:
            return
        self._seen += 1
        self._profiler.step()
        if self._seen >= self._warmup + self._steps:
            self._end()

    def stop(self, failed: bool = False) -> None:
        """Ends the profiling, if it has not ended yet: with the list of the steps so far, unless the loop failed."""
        if self._profiler is None:
            return
        if failed:
            self._profiler.on_trace_ready = None
        elif self._seen <= self._warmup:
            self._profiler.on_trace_ready = None
            _warn(
                "no step was profiled: the loop ended after {} of {} warm-up steps".format(
                    min(self._seen, self._warmup), self._warmup
                )
                if self._seen
                else "no step was profiled: step() was never called"
            )
        self._end()

    def _end(self) -> None:
        ended, self._profiler = self._profiler, None
        ended.__exit__(None, None, None)

    def __enter__(self) -> "Profile":
        self.start()
        return self

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> None:
        self.stop(failed=kind is not None)


def profile(
    steps: int = 5,
    warmup: int = 3,
    folder: PathLike = "advise-traces",
    show: Optional[Printer] = _say,
    wait_seconds: float = 60.0,
    options: Sequence[str] = (),
    record_shapes: bool = True,
    with_stack: bool = False,
) -> Profile:
    """Profiles `steps` steps after `warmup` others, and prints what to fix as soon as they are over.

    with advise.profile(steps=5) as run:
        for batch in loader:
            train(batch)
            run.step()

    If the block ends earlier, the list is that of the steps so far. with_stack adds source lines to findings; it costs time
    in each step. The other parameters are those of handler().
    """
    ready = Handler(folder, show, wait_seconds, options)
    return Profile(steps, warmup, ready, record_shapes, with_stack)
