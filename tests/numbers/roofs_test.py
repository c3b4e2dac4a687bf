"""How far operators stay below their roof, counted from the JSON of real captures by code that shares nothing with the program.

    roofs_test.py ADVISE

Kernels go to the innermost operator around their launching call; operations and minimal traffic come from its recorded sizes
and types; peaks are those of data sheets. The program has to say the same efficiency within 5 points, and to have a finding
on the main operator of each capture that stays below 60 % of its roof. Real captures are taken from $ADVISE_TRACES, or
shared/traces beside the source tree; without them they are skipped, with a message.
"""

import collections
import gzip
import json
import math
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))

# Dense rates of data sheets, in operations per second: 16-bit products, products of FP32 tensors by matrix units and
# without them; and bytes per second. The first whose name fits.
GPUS = [
    ("B300", 2.5e15, 1.25e15, 8.0e13, 8.0e12),
    ("H100", 9.894e14, 4.947e14, 6.69e13, 3.35e12),
    ("A100.*80GB", 3.12e14, 1.56e14, 1.95e13, 2.039e12),
    ("A100", 3.12e14, 1.56e14, 1.95e13, 1.555e12),
    ("V100", 1.25e14, 1.57e13, 1.57e13, 0.9e12),
    ("2080 Ti", 1.076e14, 1.345e13, 1.345e13, 0.616e12),
    ("MI300X", 1.3074e15, 1.634e14, 1.634e14, 5.3e12),
]
BYTES = {"float": 4, "c10::half": 2, "c10::bfloat16": 2, "double": 8, "long int": 8, "long": 8, "int": 4, "bool": 1}
ATTENTION = re.compile(r"aten::_scaled_dot_product_(flash|efficient|cudnn)_attention|aten::_flash_attention_forward")
SUMS = {"aten::add", "aten::add_", "aten::mul", "aten::mul_", "aten::sub", "aten::div"}
MAPS = {"aten::relu", "aten::relu_", "aten::gelu", "aten::silu", "aten::sigmoid", "aten::tanh", "aten::neg"}

# What counts: of the kernel time (agreement) or the whole time (findings), and longer than a kernel takes to start.
LEAST_SHARE = 0.02
LEAST_OF_ALL = 0.05
LEAST_CALL_US = 10


def tensors(op):
    args = op["args"]
    types = args.get("Input type") or []
    return [(dims, BYTES[kind.lower()]) for dims, kind in zip(args.get("Input Dims") or [], types)
            if kind.lower() in BYTES and isinstance(dims, list) and all(isinstance(size, int) for size in dims) and dims]


def bytes_of(*of):
    return sum(math.prod(dims) * size for dims, size in of)


def work(op):
    """(kind, operations, bytes, size of an element); none of what has no model here."""
    name, given = op["name"], tensors(op)
    products = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::baddbmm": 1}
    if name in products:
        given = given if len(given) >= 2 + products[name] else [None] * products[name] + given
        if len(given) < 2 + products[name]:
            return None
        (left, size), (right, _) = given[products[name]:products[name] + 2]
        result = [*left[:-1], right[-1]]
        moved = bytes_of((left, size), (right, size), (result, size), *given[:products[name]])
        return "product", 2 * math.prod(result) * left[-1], moved, size
    if ATTENTION.fullmatch(name) and len(given) >= 3:
        (query, size), (keys, _) = given[:2]
        length = 1 if name == "aten::_flash_attention_forward" else 2
        heads = query[1] * query[2] // query[length]
        operations = 4 * query[0] * heads * query[length] * keys[length] * query[3]
        return "product", operations, bytes_of(given[0], *given[:3]), size
    if name in SUMS and given:
        rank = max(len(dims) for dims, _ in given)  # of the result; the others are spread over it
        result = [max(sizes) for sizes in zip(*([1] * (rank - len(dims)) + dims for dims, _ in given))]
        size = max(size for _, size in given)
        return "map", math.prod(result), bytes_of(*given, (result, size)), size
    if name in MAPS and given:
        return "map", math.prod(given[0][0]), bytes_of(given[0], given[0]), given[0][1]
    if name == "aten::convolution" and len(given) >= 2:
        (batch, size), (weights, _) = given[:2]
        stride, padding, dilation = (
            [int(n) for n in re.findall(r"\d+", str(text))] for text in op["args"].get("Concrete Inputs", [""] * 6)[3:6])
        plane = [(n + 2 * p - d * (w - 1) - 1) // s + 1
                 for n, p, d, w, s in zip(batch[2:], padding, dilation, weights[2:], stride)]
        if len(plane) != len(batch) - 2:
            return None
        result = [batch[0], weights[0], *plane]
        return "product", 2 * math.prod(result) * math.prod(weights[1:]), bytes_of(given[0], given[1], (result, size)), size
    return None


def operators_of_kernels(events):
    """Of each kernel, the operators around its launching call, the innermost first."""
    lanes, calls, named, kernels = collections.defaultdict(list), {}, {}, []
    for event in events:
        kind, args = event.get("cat"), event.get("args", {})
        if event.get("ph") != "X":
            continue
        if kind == "cpu_op":
            lanes[event["pid"], event["tid"]].append((event["ts"], 0, event))
            if "External id" in args:
                named[args["External id"]] = event
        elif kind in ("cuda_runtime", "cuda_driver"):
            calls[args.get("correlation", args.get("External id"))] = event
        elif kind == "kernel":
            kernels.append(event)
    alone = []
    for kernel in kernels:
        args = kernel.get("args", {})
        call = calls.get(args.get("correlation", args.get("External id")))
        if call:
            lanes[call["pid"], call["tid"]].append((call["ts"], 1, kernel))
        elif named.get(args.get("External id")):
            alone.append((kernel, [named[args.get("External id")]]))
    yield from alone
    for lane in lanes.values():
        stack = []
        for when, kind, event in sorted(lane, key=lambda item: (item[0], item[1], -item[2].get("dur", 0))):
            while stack and stack[-1]["ts"] + stack[-1].get("dur", 0) < when:
                stack.pop()
            if kind == 0:
                stack.append(event)
            else:
                yield event, stack[::-1]


class Operator:
    def __init__(self):
        self.microseconds, self.calls, self.kernels, self.operations, self.bytes = 0, set(), set(), 0, 0

    def efficiency(self, gpu):
        """Percent of the roof."""
        _, half, matrix, plain, memory = gpu
        names = " ".join(self.kernels).lower()
        by_matrix_units = "tf32" in names or "s1688" in names or "mfma" in names or "Cijk" in names
        peak = plain if self.kind == "map" else half if self.size == 2 else matrix if by_matrix_units else plain
        roof = max(self.operations / peak, self.bytes / memory) * len(self.calls)
        return 100 * roof / (self.microseconds * 1e-6)


def operators_of(path):
    """(time of kernels, time from the first kernel to the end of the last, name of the GPU, operators that have a model)"""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", errors="replace") as file:
        trace = json.load(file)
    if not isinstance(trace, dict) or "traceEvents" not in trace:
        return 0, 0, "", []
    events = trace["traceEvents"]
    found = {}
    for kernel, around in operators_of_kernels(events):
        inner = around[0] if around else None
        known = work(inner) if inner else None
        if not known:
            continue
        key = (inner["name"], json.dumps(inner["args"].get("Input Dims")), json.dumps(inner["args"].get("Input type")))
        operator = found.setdefault(key, Operator())
        operator.name, operator.sizes = key[:2]
        operator.kind, operator.operations, operator.bytes, operator.size = known
        operator.microseconds += kernel["dur"]
        operator.calls.add(id(inner))
        operator.kernels.add(kernel["name"])
    kernels = [event for event in events if event.get("ph") == "X" and event.get("cat") == "kernel"]
    whole = max((k["ts"] + k["dur"] for k in kernels), default=0) - min((k["ts"] for k in kernels), default=0)
    names = [gpu.get("name", "") for gpu in trace.get("deviceProperties") or []]
    order = sorted(found.values(), key=lambda operator: -operator.microseconds)
    return sum(k["dur"] for k in kernels), whole, names[0] if names else "", order


class WhatTheTestCounts(unittest.TestCase):
    """Worked out by hand."""

    def check(self, name, dims, kind, operations, moved, concrete=()):
        op = {"name": name, "args": {"Input Dims": dims, "Input type": [kind] * len(dims), "Concrete Inputs": concrete}}
        self.assertEqual(work(op)[1:3], (operations, moved))

    def test_work(self):
        self.check("aten::mm", [[2, 3], [3, 5]], "float", 60, 4 * (6 + 15 + 10))
        self.check("aten::addmm", [[5], [2, 3], [3, 5]], "c10::Half", 60, 2 * (5 + 6 + 15 + 10))
        self.check("aten::bmm", [[7, 2, 3], [7, 3, 5]], "float", 420, 7 * 4 * (6 + 15 + 10))
        self.check("aten::add", [[4, 6], [4, 1]], "float", 24, 4 * (24 + 4 + 24))
        self.check("aten::mul", [[6], [4, 6]], "float", 24, 4 * (6 + 24 + 24))
        self.check("aten::_flash_attention_forward", [[1, 8, 2, 4]] * 3, "c10::BFloat16", 4 * 2 * 8 * 8 * 4, 2 * 4 * 64)
        self.check("aten::convolution", [[1, 3, 8, 8], [4, 3, 3, 3]], "float", 2 * 4 * 16 * 27, 4 * (192 + 108 + 64),
                   ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]"])


class Captures(unittest.TestCase):
    def ask(self, *arguments):
        ran = subprocess.run([PROGRAM, *arguments, "--format", "json"], stdout=subprocess.PIPE, check=True)
        return json.loads(ran.stdout)

    def test_efficiencies_and_findings(self):
        folder = os.environ.get("ADVISE_TRACES", os.path.join(ROOT, "..", "shared", "traces"))
        if not os.path.isdir(os.path.join(folder, "kineto")):
            print(f"skipped: what needs real captures: no folder {folder} (set ADVISE_TRACES)")
            return
        compared, wrong, below, silent = 0, [], 0, []
        for at, _, names in sorted(os.walk(os.path.join(folder, "kineto"))):
            for path in (os.path.join(at, name) for name in sorted(names) if re.search(r"\.json(\.gz)?$", name)):
                gpu_given = ["--gpu", "MI300X"] if "TraceLens/unit_tests" in path else []
                kernels, whole, gpu_name, operators = operators_of(path)
                gpu = next((g for g in GPUS if re.search(g[0], gpu_given[-1] if gpu_given else gpu_name)), None)
                counts = [o for o in operators if o.microseconds >= LEAST_SHARE * kernels
                          and o.microseconds >= LEAST_CALL_US * len(o.calls)]
                if not counts or not gpu:
                    continue
                facts = self.ask("facts", path, "--window", "all", "--tables", *gpu_given)["facts"]
                rows = next((f.get("rows", []) for f in facts if f["name"] == "roofline.shapes.rows"), [])
                for operator in counts:
                    compared += 1
                    told = [100 * row["attained"] for row in rows if "attained" in row
                            and row["op"] == operator.name and row["count"] == len(operator.calls)
                            and abs(row["time"] * 1e-3 - operator.microseconds) <= 1e-3 * operator.microseconds]
                    says = operator.efficiency(gpu)
                    if not told or abs(told[0] - says) > 5:
                        wrong.append(f"{path}: {operator.name} {operator.sizes}: {says:.1f} %, told {told}")
                main = counts[0]
                if main.microseconds < LEAST_OF_ALL * whole or main.efficiency(gpu) >= 60:
                    continue
                below += 1
                rules = [finding["rule"] for finding in self.ask(path, *gpu_given)["findings"]
                         if finding["severity"] != "info" or finding["rule"] == "kernel/well-run"]
                if not any(rule.startswith(("kernel/", "precision/")) for rule in rules):
                    silent.append(f"{path}: {main.name} {main.sizes}")
        print(f"{compared - len(wrong)} of {compared} efficiencies agree; {below - len(silent)} of {below} main operators "
              "below 60 % of their roof have a finding")
        self.assertLessEqual(len(wrong), 0.05 * compared, "\n" + "\n".join(wrong))
        self.assertLessEqual(len(silent), 0.05 * below, "\n" + "\n".join(silent))


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=sys.argv[:1], verbosity=2)
