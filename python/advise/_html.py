"""What notebooks show: short HTML without scripts, in the colors of the notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Iterable, List, Sequence, Tuple, Union

if TYPE_CHECKING:
    from .report import Budget, Finding, Fix, Report

_STYLE = (
    "<style>.advise{max-width:60em;line-height:1.4}.advise p{margin:.3em 0}"
    ".advise .bar{display:flex;height:1em;max-width:40em;border-radius:3px;overflow:hidden;margin:.4em 0}"
    ".advise .bar span{min-width:1px}.advise .dim{opacity:.7}"
    ".advise summary{cursor:pointer;margin:.3em 0}.advise summary b{margin-right:.6em}"
    ".advise details div{margin-left:1.2em}"
    ".advise .facts{max-height:30em;overflow:auto}.advise .facts th,.advise .facts td{text-align:left}"
    ".advise .facts td:last-child{overflow-wrap:anywhere}"
    ".advise pre{padding:.5em;overflow-x:auto;background:rgba(128,128,128,.12)}</style>"
)
_PARTS = (
    ("compute", "compute", "#1f8ad1"),
    ("comm_exposed", "communication", "#a377e6"),
    ("copy_exposed", "copies", "#e8731a"),
    ("memset_exposed", "memsets", "#ab880a"),
    ("idle", "idle", "#c3cad3"),
)


def page(body: str) -> str:
    """A piece of HTML that stands alone."""
    return '{}<div class="advise">{}</div>'.format(_STYLE, body)


def _percent(share: float) -> str:
    return "{:.0f}\u00a0%".format(share * 100)


def _scaled(value: float, step: float, units: Sequence[str]) -> str:
    at = 0
    while abs(value) >= step and at + 1 < len(units):
        value /= step
        at += 1
    return "{:.3g}\u00a0{}".format(value, units[at]) if abs(value) < 999.5 else "{:,.0f}\u00a0{}".format(value, units[at])


def _quantity(value: Union[float, str], unit: str) -> str:
    """A value as a person reads it."""
    if isinstance(value, str):
        return value
    if unit == "ns":
        return "0\u00a0s" if value == 0 else _scaled(value, 1000, ("ns", "µs", "ms", "s"))
    if unit in ("bytes", "bytes_per_s"):
        return _scaled(value, 1000, ("B", "kB", "MB", "GB", "TB")) + ("/s" if unit == "bytes_per_s" else "")
    if unit == "flop_per_s":
        return _scaled(value, 1000, ("FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"))
    if unit == "share":
        return "{:.3g}\u00a0%".format(value * 100)
    if unit == "flag":
        return "yes" if value else "no"
    number = "{:,.0f}".format(value) if value == int(value) else "{:,.4g}".format(value)
    return number if unit in ("count", "num") else "{}\u00a0{}".format(number, unit)


def _budget(budget: "Budget") -> str:
    shares = [(label, color, budget.share(part)) for part, label, color in _PARTS]
    bar = "".join(
        '<span title="{} {}" style="width:{:.2f}%;background:{}"></span>'.format(label, _percent(share), share * 100, color)
        for label, color, share in shares
        if share > 0
    )
    words = " | ".join("{} {}".format(label, _percent(share)) for label, _, share in shares if share >= 0.005)
    return '<div class="bar">{}</div><p class="dim">{}</p>'.format(bar, words)


def _fixes(fixes: Iterable["Fix"]) -> str:
    shown: List[str] = []
    for fix in fixes:
        shown.append("<p>→ {}</p>".format(escape(fix.action)))
        if fix.snippet:
            shown.append("<pre>{}</pre>".format(escape(fix.snippet)))
    return "".join(shown)


def finding(item: "Finding", is_open: bool = False) -> str:
    """A finding, folded but for its title and saving; of its fixes those for this program, or all if none is."""
    gain = "saves up to " + _percent(item.saving.share) if item.saving.share >= 0.005 else item.severity
    fixes = [fix for fix in item.fixes if fix.fits] or item.fixes
    return (
        "<details{}><summary><b>{}. {}</b> <span class='dim'>{}</span></summary>"
        "<div><p>{}</p><p>{}</p>{}<p class='dim'>{}</p></div></details>"
    ).format(
        " open" if is_open else "",
        item.rank,
        escape(item.title),
        escape(gain),
        escape(item.symptom),
        escape(item.cause),
        _fixes(fixes),
        escape(item.rule),
    )


def _plan(item: "Report") -> str:
    plan = item.plan
    if len(plan) < 2:
        return ""
    steps = item.facts.get("cluster.steps") or item.facts.get("steps.count")
    left = [item.window.seconds, *(step.after_seconds for step in plan)]
    first, *later = (_quantity(seconds * 1e9 / float(steps or 1), "ns") for seconds in left)
    words = " → ".join([first + (" per " + item.run.unit if steps else ""), *later])
    limit = "; then {} is the limit".format(plan[-1].next_bound) if plan[-1].next_bound else ""
    return "<p>Fixed in this order: {}{}</p>".format(words, escape(limit))


def report(item: "Report") -> str:
    """The verdict, where the time went, and the findings."""
    run = item.run
    parts = ["<p><b>{}</b></p>".format(escape(item.verdict))]
    if run.why_tentative:
        parts.append("<p class='dim'>{}</p>".format(escape(run.why_tentative)))
    if item.budget.window_ns:
        parts.append(_budget(item.budget))
    # What another finding explains stands under it in the program's reports, and nowhere here, but for what it wins itself.
    findings = [one for one in item.findings if not one.explained_by or (one.saving.seconds > 0 and one.severity != "info")]
    parts.append(_plan(item))
    parts += [finding(one, one is findings[0]) for one in findings]
    names = ", ".join(one.path for one in item.inputs)
    parts.append("<p class='dim'>{}</p>".format(escape(names)))
    return "".join(parts)


def facts(rows: Iterable[Tuple[str, Union[float, str], str]]) -> str:
    """A table of facts, with values as a person reads them."""
    cells = "".join(
        "<tr><td>{}</td><td>{}</td></tr>".format(escape(name), escape(_quantity(value, unit))) for name, value, unit in rows
    )
    return "<div class='facts'><table><thead><tr><th>fact</th><th>value</th></tr></thead><tbody>{}</tbody></table></div>".format(cells)
