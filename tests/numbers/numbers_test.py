"""No number in a report says more than the report itself bears out.

    numbers_test.py ADVISE FOLDER

FOLDER holds the JSON reports of all scenarios and of their repaired forms (the test `accuracy` leaves them there). Real
captures are taken from $ADVISE_TRACES, or shared/traces beside the source tree; without them they are skipped, with a
message. Each percentage and each duration in what a finding says is held against its saving, its evidence, and the time
that the GPUs spent in each state.
"""

import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))

# Percentages are printed without decimals, durations with three digits.
ROUNDED = 0.0051
DIGITS = 1.006
# Shares of one whole are rounded so that they add up to 100 %.
APPORTIONED = 0.0101

NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
PERCENT = re.compile(NUMBER + " %")
DURATION = re.compile(NUMBER + r" (ns|µs|ms|s|min|h)\b(?! of)")
SECONDS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}

# Of the window; percentages of anything else are at most 100.
OF_WINDOW = re.compile(r"\A (in all )?of ((the|its|each) (time|window|run)|this recording)\b")
ALL_OF_WINDOW = re.compile(r"\ball of the (kernel )?time\b")
# Of what the program takes when nobody profiles it.
OF_UNPROFILED = re.compile(r"\A of a run without the profiler\b")

# What a sentence says of the time of the GPUs: its percentages are at most the time of this state. The first that fits.
STATES = [
    (r"\b(would|could|can) save\b|\bcosts? \d", "saving"),
    (r"\b(only|nothing else|nothing but)\b.*\b(communication|collectives|all-reduces|runs|send)\b", "communication"),
    (r"\bonly copies run\b|\bcopies run without\b|\bcopies .*\brun alone\b", "copies"),
    (r"^[^,:]*\b([Kk]ernels|operators|copies) .*\btake \d", "work"),
    (r"^Gaps\b", "idle"),
    (r"\bcomputes? nothing\b", "no compute"),
    (r"\bidle\b", "idle"),
    (r"\bGPUs? waits?\b", "no compute"),
    (r"^(Start-up|The launching thread|The excess|Migrations)\b", "anything"),
    (r"\bwait for their turn\b", "anything"),  # while others compute
    (r"\bwait(s|ing)?\b|\blate\b", "no compute"),
    (r"\b(takes?|run|runs)\b", "work"),
]

# What the first sentence says of the GPUs.
VERDICT = [
    (r"\bidle (?:for )?(\d+) %", "idle"),
    (r"\bbusy (?:for )?(\d+) %", "work"),
    (r"\bcomputes? (?:for )?(\d+) %", "compute"),
    (r"\bcopies (?:for )?(\d+) %", "copies"),
    (r"\bcommunication (?:for )?(\d+) %", "communication"),
]

# Compared with something else than a whole: may be more than 100 %.
RELATIVE = re.compile(r"\b(longer|slower|more|later) than\b|\bspreads over\b")

# Sentences about more than the window: the start of the program, the whole capture, a session.
BEYOND_WINDOW = re.compile(r"before the first GPU operation|first calls|longest stretch|Start-up|start of the loop"
                           r"|loads and compiles code|copies data to the GPU before|The recording lasts|watchdog of")


# From where on a report has to say that a fix wins far less than its symptom names: falls_short and info_share of
# kb/ranking.toml.
FALLS_SHORT = 2.05
SLIVER = 0.015
# The same where a fix wins more than the time that its symptom names: half a percent, and what rounding hides.
BEYOND = 0.0101


def number(text):
    return float(text.replace(",", ""))


def sentences(text):
    return re.split(r"(?<=[.!?])\s+(?=[A-Z0-9])", text)


class Report:
    def __init__(self, name, data):
        self.name = name
        self.data = data
        self.window = data["window"]["seconds"]
        budgets = [d["budget"] for d in data["devices"] if d["budget"]["window_ns"] > 0]
        self.gpus = max(1, len(budgets))

        def most(*parts):
            return max((sum(b[p] for p in parts) / b["window_ns"] for b in budgets), default=1.0)

        self.states = {
            "anything": 1.0,
            "idle": most("idle_ns"),
            "no compute": most("idle_ns", "comm_exposed_ns", "copy_exposed_ns", "memset_exposed_ns"),
            "communication": most("comm_exposed_ns"),
            "copies": most("copy_exposed_ns"),
            "compute": most("compute_ns"),
            "work": most("compute_ns", "comm_exposed_ns", "copy_exposed_ns", "memset_exposed_ns"),
        }


def state_of(sentence):
    for pattern, state in STATES:
        if re.search(pattern, sentence):
            return state
    return "anything"


def wrong_in(report, finding):
    """What a finding says that the report does not bear out, a line each."""
    saving = finding["saving"]
    at_stake = max(saving["alone"], saving["share"])
    unprofiled = saving.get("unprofiled", 0)
    most = max(at_stake, unprofiled)
    wrong = []

    def blame(what, sentence):
        wrong.append(f"{report.name}: {finding['rule']}: {what}: {sentence}")

    if finding["severity"] != "info" and not re.search("[Tt]his fix", finding["symptom"]):
        # Whoever reads what the GPU loses takes it for what can be won, unless the next sentence says less.
        for sentence in sentences(finding["symptom"]):
            if state_of(sentence) in ("anything", "saving", "work"):
                continue
            for match in PERCENT.finditer(sentence):
                if not OF_WINDOW.match(sentence[match.end() :]):
                    continue
                if number(match.group(1)) / 100 > FALLS_SHORT * most + SLIVER:
                    blame(f"{match.group(0)} claimed, {100 * most:.2f} % saved, and nothing said of that", sentence)
        named = [number(match.group(1)) / 100 for match in PERCENT.finditer(finding["symptom"])
                 if OF_WINDOW.match(finding["symptom"][match.end() :])]
        named += [1.0] * bool(ALL_OF_WINDOW.search(finding["symptom"]))
        if named and at_stake > max(named) + BEYOND:
            blame(f"{100 * at_stake:.2f} % saved, {100 * max(named):.2f} % named, and nothing said of that", finding["symptom"])
    # What wins far more without the profiler says so beside that figure, and not beside the smaller one.
    if unprofiled > 2 * saving["share"] + SLIVER and re.search("This fix would save almost nothing", finding["symptom"]):
        blame(f"{100 * unprofiled:.2f} % saved without the profiler, and almost nothing said", finding["symptom"])
    for sentence in sentences(finding["symptom"]) + sentences(finding["cause"]):
        for match in PERCENT.finditer(sentence):
            if OF_UNPROFILED.match(sentence[match.end() :]):
                if number(match.group(1)) / 100 > unprofiled + ROUNDED:
                    blame(f"{match.group(0)} without the profiler, which is {100 * unprofiled:.1f} %", sentence)
                continue
            state = state_of(sentence) if OF_WINDOW.match(sentence[match.end() :]) else "anything"
            limit = at_stake if state == "saving" else report.states[state]
            share = number(match.group(1)) / 100
            if share > limit + ROUNDED and not (state == "anything" and RELATIVE.search(sentence)):
                blame(f"{match.group(0)} of {state}, which is {100 * limit:.1f} %", sentence)
        if BEYOND_WINDOW.search(sentence) or report.window == 0:  # logs have times, and no window
            continue
        for match in DURATION.finditer(sentence):
            seconds = number(match.group(1)) * SECONDS[match.group(2)]
            if seconds > report.window * report.gpus * DIGITS:
                blame(f"{match.group(0)} in a window of {report.window} s", sentence)
    if max(saving["share"], saving["alone"]) > 1 or not close(saving["share"] * report.window, saving["seconds"]):
        blame("saving", json.dumps(saving))
    for item in finding["evidence"]:
        span = item.get("end_ns", 0) - item.get("start_ns", 0)
        if item["unit"] == "ns" and 0 < span * 1.001 < item["value"]:
            blame("evidence longer than its span", json.dumps(item)[:300])
    return wrong


def wrong_in_report(report):
    wrong = []
    for finding in report.data["findings"]:
        wrong += wrong_in(report, finding)
    for pattern, state in VERDICT:
        for match in re.finditer(pattern, report.data["verdict"]):
            if number(match.group(1)) / 100 > report.states[state] + APPORTIONED:
                wrong.append(f"{report.name}: {match.group(0)} of {100 * report.states[state]:.1f}: {report.data['verdict']}")
    shares = sum(finding["saving"]["share"] for finding in report.data["findings"])
    if shares > 1 + 1e-6:
        wrong.append(f"{report.name}: savings add up to {100 * shares:.1f} % of the window")
    left = report.window
    for item in report.data["plan"]:
        if item["after_seconds"] > left * (1 + 1e-9) + 1e-9:
            wrong.append(f"{report.name}: {item['rule']} of the plan leaves more time than there was")
        left = item["after_seconds"]
    return wrong


def close(one, other):
    return abs(one - other) <= 1e-3 * max(abs(one), abs(other)) + 1e-6


def report_of(symptom, alone=0.1, severity="high", idle=0.4, **more):
    """A report of one finding on one GPU that computes or is idle, with a window of 1 s."""
    budget = {"compute_ns": round((1 - idle) * 1e9), "comm_exposed_ns": 0, "copy_exposed_ns": 0, "memset_exposed_ns": 0,
              "idle_ns": round(idle * 1e9), "window_ns": 10**9}
    saving = {"seconds": alone, "share": alone, "alone": alone, "basis": ""}
    finding = {"rule": "a/b", "severity": severity, "symptom": symptom, "cause": "", "evidence": [], "saving": saving}
    finding.update(more)
    return Report("made up", {"window": {"seconds": 1.0}, "devices": [{"budget": budget}], "findings": [finding],
                              "verdict": "The GPU is idle " + str(round(100 * idle)) + " % of the time.",
                              "plan": [{"rule": "a/b", "after_seconds": 1 - alone}]})


class WhatTheTestFinds(unittest.TestCase):
    def finds(self, *args, **more):
        return len(wrong_in_report(report_of(*args, **more)))

    def test_more_than_the_state_of_the_gpu(self):
        self.assertEqual(self.finds("The GPU is idle 41 % of the time.", alone=0.3), 1)
        self.assertEqual(self.finds("The GPU is idle 40 % of the time.", alone=0.3), 0)
        self.assertEqual(self.finds("Small kernels take 61 % of the time: 3 per step."), 1)
        self.assertEqual(self.finds("Small kernels take 60 % of the time: 3 per step."), 0)
        self.assertEqual(self.finds("For 2 % of the time, only communication runs.", alone=0.01), 1)
        self.assertEqual(self.finds("90 % of the launches find the GPU idle."), 0)
        self.assertEqual(self.finds("101 % of the launches find the GPU idle."), 1)

    def test_more_than_the_fix_saves(self):
        self.assertEqual(self.finds("The GPU waits 30 % of the time for that.", alone=0.05), 1)
        self.assertEqual(self.finds("The GPU waits 30 % of the time. This fix would save 5 % of the time.", alone=0.05), 0)
        self.assertEqual(self.finds("The GPU waits 30 % of the time. This fix would save 7 % of the time.", alone=0.05), 1)
        self.assertEqual(self.finds("The GPU waits 30 % of the time for that.", alone=0.05, severity="info"), 0)

    def test_what_is_saved_without_the_profiler(self):
        def saving(unprofiled):
            return {"seconds": 0.001, "share": 0.001, "alone": 0.001, "unprofiled": unprofiled, "basis": ""}

        seen = "Slow kernels take 58 % of the time. This fix would save "
        self.assertEqual(self.finds(seen + "20 % of a run without the profiler.", saving=saving(0.2)), 0)
        self.assertEqual(self.finds(seen + "25 % of a run without the profiler.", saving=saving(0.2)), 1)
        self.assertEqual(self.finds(seen + "almost nothing.", saving=saving(0.2)), 1)
        self.assertEqual(self.finds(seen + "almost nothing.", saving=saving(0.001)), 0)

    def test_less_than_the_fix_saves(self):
        self.assertEqual(self.finds("The GPU is idle 8 % of the time for that.", alone=0.11), 1)
        self.assertEqual(self.finds("The GPU is idle 8 % of the time for that.", alone=0.085), 0)
        self.assertEqual(self.finds("The GPU is idle 8 % of the time. This fix would save 11 % of the time.", alone=0.11), 0)
        self.assertEqual(self.finds("90 % of the launches find the GPU idle.", alone=0.11), 0)

    def test_longer_than_the_window(self):
        self.assertEqual(self.finds("The calls take 1,100 ms."), 1)
        self.assertEqual(self.finds("The calls take 990 ms."), 0)
        self.assertEqual(self.finds("Another 3.00 s pass before the first GPU operation."), 0)

    def test_verdict_evidence_savings_and_plan(self):
        item = {"unit": "ns", "value": 20, "start_ns": 5, "end_ns": 15}
        self.assertEqual(self.finds("Nothing.", evidence=[item]), 1)
        saving = {"seconds": 0.1, "share": 0.2, "alone": 0.2, "basis": ""}
        self.assertEqual(self.finds("Nothing.", saving=saving), 1)
        report = report_of("Nothing.")
        report.data["verdict"] = "The GPU computes for 62 % of the time and is idle for 42 %."
        self.assertEqual(len(wrong_in_report(report)), 2)
        report = report_of("Nothing.")
        report.data["plan"].append({"rule": "a/b", "after_seconds": 2.0})
        self.assertEqual(len(wrong_in_report(report)), 1)


class Reports(unittest.TestCase):
    def check(self, reports):
        wrong = [line for report in reports for line in wrong_in_report(report)]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong[:40]))

    def test_scenarios(self):
        reports = []
        for path in sorted(glob.glob(os.path.join(FOLDER, "*.report.json"))):
            with open(path, encoding="utf-8") as file:
                reports.append(Report(os.path.basename(path), json.load(file)))
        self.assertGreater(len(reports), 400, "run the test `accuracy` first")
        self.check(reports)

    def test_recordings(self):
        # Of PyTorch's profiler, whose cost stands in them.
        reports = []
        for path in sorted(glob.glob(os.path.join(ROOT, "fixtures", "workloads", "recordings", "*.pt.trace.json.gz"))):
            ran = subprocess.run([PROGRAM, "--format", "json", path], stdout=subprocess.PIPE, check=True)
            reports.append(Report(os.path.basename(path), json.loads(ran.stdout)))
        self.assertGreater(len(reports), 30)
        self.check(reports)

    def test_real_captures(self):
        folder = os.environ.get("ADVISE_TRACES", os.path.join(ROOT, "..", "shared", "traces"))
        if not os.path.isdir(folder):
            print(f"skipped: what needs real captures: no folder {folder} (set ADVISE_TRACES)")
            return
        files = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names
                       if not name.endswith(".md"))

        def diagnose(path):
            # Traces of one operator each do not name their GPU.
            gpu = ["--gpu", "MI300X"] if "TraceLens/unit_tests" in path else []
            command = [PROGRAM, "--format", "json", "--jobs", "1", *gpu, path]
            ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
            return Report(os.path.relpath(path, folder), json.loads(ran.stdout)) if ran.returncode == 0 else None

        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            reports = [report for report in pool.map(diagnose, files) if report]
        print(f"{len(reports)} of {len(files)} captures")
        self.assertGreater(len(reports), len(files) // 2)
        self.check(reports)


if __name__ == "__main__":
    PROGRAM, FOLDER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1], verbosity=2)
