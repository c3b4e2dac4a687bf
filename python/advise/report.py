"""Reports as objects: what `advise --format json` says, with names and types."""

from __future__ import annotations

import difflib
import json
import os
from dataclasses import dataclass, field, fields
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union

from . import _html
from ._program import run_program

T = TypeVar("T")
Value = Union[float, str]
PathLike = Union[str, "os.PathLike[str]"]


def _of(kind: Type[T], values: Mapping[str, Any], **made: Any) -> T:
    """An object of the fields that `kind` knows: reports of newer programs may have more."""
    known = {item.name for item in fields(kind)}
    return kind(**{**{name: value for name, value in values.items() if name in known}, **made})


@dataclass(frozen=True)
class Input:
    """A file that was read."""

    path: str = ""
    kind: str = ""
    producer: str = ""
    rank: int = 0
    host: str = ""


@dataclass(frozen=True)
class Run:
    """What kind of program was captured, and how much of it."""

    kind: str = ""  # training, inference, one-pass, solver, kernels, start-up, no-gpu
    unit: str = ""  # step, token, request, iteration, pass, launch
    units: int = 0
    framework: str = ""
    languages: Sequence[str] = ()
    tentative: bool = False
    why_tentative: str = ""


@dataclass(frozen=True)
class Efficiency:
    """How well kernels run, where that was measured; 0: unknown."""

    measured_share: float = 0
    mfu: float = 0
    bandwidth: float = 0
    source: str = "none"


@dataclass(frozen=True)
class Window:
    """The part of the run that was judged."""

    mode: str = ""  # all, steady, given
    start_ns: int = 0
    end_ns: int = 0
    seconds: float = 0


@dataclass(frozen=True)
class Budget:
    """Where the time went: nanoseconds, the first five of which add up to the window."""

    compute_ns: int = 0
    comm_exposed_ns: int = 0
    copy_exposed_ns: int = 0
    memset_exposed_ns: int = 0
    idle_ns: int = 0
    window_ns: int = 0
    idle_causes_ns: Mapping[str, int] = field(default_factory=dict)

    def share(self, part: str) -> float:
        """The part's share of the window: share("idle"), share("compute")."""
        ns: int = getattr(self, part + "_ns")
        return ns / self.window_ns if self.window_ns else 0.0


@dataclass(frozen=True)
class Device:
    """A GPU, and where its time went."""

    rank: int = 0
    device: int = 0
    name: str = ""
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True)
class Saving:
    """By how much the window gets shorter: `share` on top of the fixes before it, `alone` by itself.

    `unprofiled` is the share of a run that nobody profiles, where the profiler's own cost matters: order and severity
    rest on it then."""

    seconds: float = 0
    share: float = 0
    alone: float = 0
    basis: str = ""
    unprofiled: Optional[float] = None


@dataclass(frozen=True)
class Where:
    """The ranks, devices and steps that a finding is about; empty: all.

    `figures`: of several ranks, the one whose numbers the words hold, where those of the others differ."""

    ranks: Sequence[int] = ()
    devices: Sequence[int] = ()
    steps: Sequence[int] = ()
    phase: str = ""
    figures: str = ""


@dataclass(frozen=True)
class Fix:
    """What to do, with code where there is some."""

    action: str = ""
    snippet: str = ""
    language: str = ""
    audience: Sequence[str] = ()  # "for" in JSON: empty, it is for all
    links: Sequence[str] = ()
    fits: bool = True  # for this program; those that do come first
    same_as_finding: Optional[int] = None  # rank of the finding that it stands first under


@dataclass(frozen=True)
class Evidence:
    """A figure, and how to check it by hand."""

    what: str = ""
    value: float = 0
    unit: str = ""
    threshold: Optional[float] = None
    start_ns: int = 0
    end_ns: int = 0
    table: str = ""
    rows: Sequence[int] = ()
    sql: str = ""
    find: str = ""
    source: str = ""


@dataclass(frozen=True)
class Finding:
    """Something to fix. The first of a report is the first to do."""

    rank: int
    rule: str
    title: str
    severity: str
    confidence: float
    effort: str
    tentative: bool
    risk: str
    saving: Saving
    where: Where
    symptom: str
    cause: str
    fixes: Sequence[Fix]
    evidence: Sequence[Evidence]
    explains: Sequence[str] = ()
    explained_by: Sequence[str] = ()
    confidence_from: str = ""

    def __str__(self) -> str:
        gain = "  saves up to {:.0%}".format(self.saving.share) if self.saving.share >= 0.005 else ""
        return "{:2}  {}{}  [{}]".format(self.rank, self.title, gain, self.rule)

    def _repr_html_(self) -> str:
        return _html.page(_html.finding(self, is_open=True))


class Findings(Tuple[Finding, ...]):
    """The findings of a report, in the order to work on them."""

    def __str__(self) -> str:
        return "\n".join(map(str, self)) if self else "nothing to fix was found"

    def _repr_html_(self) -> str:
        return _html.page("".join(map(_html.finding, self)) or "<p>Nothing to fix was found.</p>")


class Facts(Mapping[str, Value]):
    """What is known about the run, by name: report.facts["window.time"]; report.facts.unit("window.time") is "ns"."""

    def __init__(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Value:
        value: Value = self._named(name)["value"]
        return value

    def _named(self, name: str) -> Mapping[str, Any]:
        if name in self._values:
            return self._values[name]
        near = difflib.get_close_matches(name, self._values, 1)
        raise KeyError(name + (" (did you mean {}?)".format(near[0]) if near else ""))

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def unit(self, name: str) -> str:
        """The unit of a fact: ns, bytes, count, share, flag, text …"""
        return str(self._named(name)["unit"])

    def __repr__(self) -> str:
        return "<{} facts>".format(len(self))

    def _repr_html_(self) -> str:
        return _html.page(_html.facts([(name, self[name], self.unit(name)) for name in self]))


@dataclass(frozen=True)
class PlanStep:
    """One fix after the other: what is left of the window after it."""

    rule: str = ""
    after_seconds: float = 0
    unlocks: Sequence[str] = ()
    makes_needless: Sequence[str] = ()
    next_bound: str = ""


@dataclass(frozen=True)
class NotChecked:
    """A rule that the capture could not answer, and how to capture what it needs."""

    rule: str = ""
    needs: Sequence[str] = ()
    how: str = ""


def _device(values: Mapping[str, Any]) -> Device:
    causes = {name[: -len("_ns")]: ns for name, ns in values.get("idle", {}).items()}
    return _of(Device, values, budget=_of(Budget, values["budget"], idle_causes_ns=causes))


def _finding(values: Mapping[str, Any]) -> Finding:
    return _of(
        Finding,
        values,
        saving=_of(Saving, values["saving"]),
        where=_of(Where, values["where"]),
        fixes=tuple(_of(Fix, fix, audience=tuple(fix.get("for", ()))) for fix in values["fixes"]),
        evidence=tuple(_of(Evidence, item) for item in values["evidence"]),
    )


class Report:
    """What `advise` says of a run. Parts are read when they are first asked for."""

    def __init__(self, paths: Sequence[PathLike], options: Sequence[str] = ()) -> None:
        self.paths: List[str] = [os.fspath(path) for path in paths]
        self.options: List[str] = list(options)
        self._folder = os.getcwd()
        self._json: Optional[Dict[str, Any]] = None
        self._text: Optional[str] = None

    def _run(self, *more: str) -> str:
        return run_program([*self.options, *more, "--progress", "never", "--", *self.paths], self._folder)

    @property
    def json(self) -> Dict[str, Any]:
        """The report of `--format json --facts`, as it is."""
        if self._json is None:
            self._json = json.loads(self._run("--format", "json", "--facts"))
        return self._json

    @property
    def verdict(self) -> str:
        """The first sentence of the report."""
        return str(self.json["verdict"])

    @property
    def healthy(self) -> bool:
        """Nothing to fix, no risk, and kernels that were measured and run well."""
        return bool(self.json["healthy"])

    @property
    def run(self) -> Run:
        """What kind of program it is."""
        return _of(Run, self.json["run"])

    @property
    def window(self) -> Window:
        """The part that was judged."""
        return _of(Window, self.json["window"])

    @property
    def efficiency(self) -> Efficiency:
        """How well kernels run."""
        return _of(Efficiency, self.json["efficiency"])

    @property
    def inputs(self) -> List[Input]:
        """The files that were read."""
        return [_of(Input, item) for item in self.json["inputs"]]

    @property
    def devices(self) -> List[Device]:
        """The GPUs of the run."""
        return [_device(item) for item in self.json["devices"]]

    @property
    def budget(self) -> Budget:
        """Where the time went, summed over all GPUs."""
        total: Dict[str, int] = {}
        causes: Dict[str, int] = {}
        for item in self.json["devices"]:
            for name, ns in item["budget"].items():
                total[name] = total.get(name, 0) + ns
            for name, ns in item["idle"].items():
                cause = name[: -len("_ns")]
                causes[cause] = causes.get(cause, 0) + ns
        return _of(Budget, total, idle_causes_ns=causes)

    @property
    def findings(self) -> Findings:
        """What to fix, the first thing first."""
        return Findings(_finding(item) for item in self.json["findings"])

    @property
    def plan(self) -> List[PlanStep]:
        """The fixes in the order to make them, and what is left of the window after each."""
        return [_of(PlanStep, item) for item in self.json["plan"]]

    @property
    def facts(self) -> Facts:
        """What is known about the run."""
        return Facts(self.json["facts"])

    @property
    def not_checked(self) -> List[NotChecked]:
        """Rules that this capture could not answer."""
        return [_of(NotChecked, item) for item in self.json["not_checked"]]

    def why(self, rule: str) -> str:
        """How a rule reached its verdict, fired or not."""
        return run_program(["why", rule, "--progress", "never", "--", *self.paths], self._folder)

    def save(self, path: PathLike, format: str = "") -> None:  # pylint: disable=redefined-builtin
        """Writes the report as text, json, markdown, html or sarif; the ending of the name says which."""
        endings = {".html": "html", ".json": "json", ".md": "markdown", ".sarif": "sarif"}
        chosen = format or endings.get(os.path.splitext(os.fspath(path))[1].lower(), "text")
        self._run("--format", chosen, "-o", os.path.abspath(os.fspath(path)))

    def __str__(self) -> str:
        if self._text is None:
            self._text = self._run("--format", "text", "--no-color")
        return self._text

    def __repr__(self) -> str:
        return "<advise.Report of {}: {}>".format(", ".join(self.paths), self.verdict)

    def _repr_html_(self) -> str:
        return _html.page(_html.report(self))


def read(*paths: PathLike, options: Sequence[str] = ()) -> Report:
    """Reads the reports of one run: files, or folders of them. `options` are those of the program: ["--window", "all"].

    Raises AdviseError where the program fails, for example if a file cannot be read.
    """
    if not paths:
        raise TypeError("advise.read needs at least one report")
    report = Report(paths, options)
    report.json  # pylint: disable=pointless-statement
    return report
