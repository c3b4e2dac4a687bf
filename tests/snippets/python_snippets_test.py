"""Snippets in Python are checked like code: no name comes from nowhere, and what can run on a CPU runs with real PyTorch.

    python_snippets_test.py

What PyTorch is installed decides what runs: parts of it that are newer stand in NEWER with the version that brought them.
Without PyTorch (Debian: python3-torch) nothing runs, with a message; names are checked all the same.
"""

import ast
import builtins
import contextlib
import glob
import os
import re
import sys
import tempfile
import types
import unittest
import warnings

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))

LITERAL = r"""\[\[(?:(?!\]\]).)*\]\]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""
SNIPPET = re.compile(rf"""snippet\s*=\s*((?:{LITERAL})(?:\s*\.\.\s*(?:{LITERAL}))*)\s*,\s*language\s*=\s*"python\"""", re.S)


# What a report fills in, "{optimizer:function}", with one of the words that it may become.
FILLED = {"optimizer": "AdamW", "form": "foreach"}


def filled(code):
    return re.sub(r"\{(\w+):\w+\}", lambda place: FILLED[place[1]], code)


def unquoted(literal):
    if literal.startswith("[["):
        return literal[2:-2]
    return re.sub(r"\\(.)", lambda escape: {"n": "\n", "t": "\t"}.get(escape[1], escape[1]), literal[1:-1])


def snippets():
    """(rule, number in the rule, code) of all snippets in Python."""
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, "rules", "*", "*.lua"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        rule = os.path.relpath(path, os.path.join(ROOT, "rules"))[: -len(".lua")]
        for number, match in enumerate(SNIPPET.finditer(text)):
            code = "".join(unquoted(one) for one in re.findall(LITERAL, match.group(1), re.S))
            found.append((rule, number, filled(code).strip("\n") + "\n"))
    return found


# ---- names

# What a snippet may use without importing it: a reader knows where these come from.
IMPORTED = """
    torch dist nn F os gc time contextlib concurrent jax cupy cupyx cuda tf triton tl wds monai profile schedule checkpoint
    DataLoader DistributedSampler DistributedDataParallel DDP ProfilerActivity fully_shard init_device_mesh
    PipelineModule AutoModelForCausalLM DataCollatorWithPadding EmbeddingBagCollection
    LigerFusedLinearCrossEntropyLoss flash_attn_varlen_func load_balancing_loss
""".split()

# Names of the reader's program. A new one belongs here when its meaning is plain from the name.
OF_THE_PROGRAM = """
    model optimizer loader eval_loader dataset batch sample tokenizer device local_rank loss loss_fn losses lr params
    x y a b q k v x0 x1 i n d B batch_size step steps results score scores mask keep limit length lengths_cpu
    train train_step branch_a branch_b prof self process load write log update_metrics handler kernel grid f
    layers layer block blocks weight weights table tables rows indices inputs targets target source sources received sent
    grad grads layout nodes gpus_per_node micro_batches ranks_on_this_node correct total out shard shape dim hidden
    labels lm_head averages training tokens expert_weights offsets tensors buffer buffers static_in scale scale_tensor features
    router_logits cu_seqlens_q cu_seqlens_k max_q max_k name path state values norms capacity pieces to_one_tensor pipe
    array items transforms images_uint8 event copied pinned staging stream copy_stream following following_host batches
    ids classes prompt next_token validate configs make_env debug experts eps
""".split()


def free_names(code):
    bound, used, added, assigned = set(), set(), set(), set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
            bound.update(argument.arg for argument in node.args.args)
            bound.add(getattr(node, "name", ""))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        if isinstance(node, ast.Assign):
            assigned.update(name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name))
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            added.add(node.target.id)
    return (used - bound | added - assigned) - set(dir(builtins))


class Names(unittest.TestCase):
    def test_all_snippets_are_seen(self):
        count = 0
        for path in glob.glob(os.path.join(ROOT, "rules", "*", "*.lua")):
            with open(path, encoding="utf-8") as file:
                count += len(re.findall(r'language\s*=\s*"python"', file.read()))
        self.assertEqual(len(snippets()), count)
        self.assertGreater(count, 200)

    def test_a_misspelled_name_is_found(self):
        self.assertEqual(free_names("model = torch.compile(modle)"), {"torch", "modle"})
        self.assertEqual(free_names("total += loss"), {"total", "loss"})
        self.assertEqual(free_names("import gc\ngc.collect()"), set())

    def test_names_are_imported_or_of_the_program(self):
        known = set(IMPORTED) | set(OF_THE_PROGRAM)
        used = set()
        for rule, _, code in snippets():
            names = free_names(code)
            used |= names
            self.assertEqual(names - known, set(), f"{rule}:\n{code}")
        self.assertEqual(set(OF_THE_PROGRAM) - used, set(), "no snippet uses these any longer")

    def test_pyflakes_finds_nothing_else(self):
        try:
            from pyflakes import checker, messages
        except ImportError:
            print("skipped: pyflakes is not installed (Debian: python3-pyflakes)")
            return
        # Snippets are pieces: what they do not define or do not use is in the program around them.
        harmless = (messages.UndefinedName, messages.UnusedImport, messages.UnusedVariable)
        for rule, _, code in snippets():
            found = [str(one) for one in checker.Checker(ast.parse(code)).messages if not isinstance(one, harmless)]
            self.assertEqual(found, [], f"{rule}:\n{code}")


# ---- running

# What of PyTorch came when: a snippet with it runs where PyTorch is as new.
NEWER = {
    r"torch\.compile|torch\._dynamo|torch\._inductor": (2, 0),
    r"scaled_dot_product_attention": (2, 0),
    r"clip_grad_norm_\(.*foreach": (2, 0),
    r"set_to_none=True": (1, 7),
    r"nonzero_static": (2, 1),
    r"torch\.vmap": (2, 0),
    r"_foreach_copy_": (2, 1),
    r"init_device_mesh": (2, 2),
    r"torch\.amp\.GradScaler|nn\.attention": (2, 3),
    r"RMSNorm|rms_norm|async_save": (2, 4),
    r"_symmetric_memory": (2, 6),
    r"fully_shard|set_modules_to_forward_prefetch|in_order=": (2, 6),
    r"fused=True": (2, 8),  # on a CPU
}

# Packages that are not PyTorch: their snippets run where somebody installs them, which nobody does for this test.
OTHER_PACKAGES = re.compile(r"\b(jax|rmm|bitsandbytes|flashinfer|cupy|cupyx|(?<!torch\.)cuda\.(to_device|pinned_array|grid)|tf|(?<!\.)triton|nvtx|gymnasium|wds|monai|cv2|te|torchao|transformers|AutoModelForCausalLM|DataCollatorWithPadding|pipe"
                            r"|EmbeddingBagCollection|LigerFused\w+|flash_attn_varlen_func|PipelineModule"
                            r"|load_balancing_loss)\b|\bkernel\[grid\]|gradient_checkpointing_disable")

# What cannot run in one process on a CPU, whatever PyTorch is installed, and why.
NEEDS_GPU = {
    "_grouped_mm": "CUDA",
    "emit_nvtx": "NVTX",
    "bf16_compress_hook": "NCCL",
    "all_gather_into_tensor": "NCCL",
    "init_process_group": "NCCL",
    "batch_isend_irecv": "several ranks",
    "all_to_all_single": "several ranks",
    "distributed.send": "several ranks",
    "init_device_mesh": "several GPUs",
    "new_subgroups": "GPUs, whose number it asks for",
    "get_device_properties": "a GPU",
    "_grouped_mm": "a GPU",
    "CUDNN_ATTENTION": "a GPU with cuDNN",
    "FLASH_ATTENTION": "a GPU",
    "preferred_rocm_fa_library": "an AMD GPU",
    "cuda.tunable": "a GPU",
    "CUDAGraph": "a GPU",
    "_record_memory_history": "a GPU, whose allocator it asks",
    "generation_config": "a model of Transformers",
}


# What a snippet finds in the program around it: tensors and functions that are small and fit each other.
PROGRAM = """
import concurrent.futures, contextlib, gc, os, time
import torch, torch.distributed as dist, torch.nn as nn, torch.nn.functional as F
import torch.utils.checkpoint
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import profile, schedule, ProfilerActivity
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
DDP = DistributedDataParallel

torch.manual_seed(0)
B, n, k, d, dim, size, length, capacity, limit, i, local_rank, name = 4, 8, 4, 4, 4, 50, 7, 8, 0.5, 0, 0, "weight"
batch_size, steps, lr, step, total, training, shape, hidden, features = 4, 3, 0.1, 100, 10, True, (2, 4), 4, 30
device = torch.device("cpu")
net = nn.Linear(4, 4)
model = net
params = list(net.parameters())
optimizer = torch.optim.SGD(params, lr=0.1, momentum=0.9)
x, y, a, b = (torch.randn(4, 4) for _ in range(4))
x0, x1, out, shard, weight = (torch.randn(4, 4) for _ in range(5))
batch = sample = static_in = x
q, v = torch.randn(1, 2, 8, 4), torch.randn(1, 2, 8, 4)
mask = keep = x > 0
table, indices, rows = torch.randn(10, 4), torch.tensor([1, 2, 3]), torch.tensor([0, 2])
scale, scale_tensor, scores, lengths_cpu = torch.randn(4), torch.tensor(2.0), torch.randn(100), torch.tensor([3, 5])
event, copied, copy_stream, vocabulary = torch.cuda.Event(), torch.cuda.Event(), torch.cuda.Stream(), 50
event.record(), copied.record()
score, values, correct = torch.tensor(0.5), torch.randn(4), torch.tensor(0.0)
dataset = torch.utils.data.TensorDataset(torch.randn(256, 4), torch.randn(256, 4))
loader = eval_loader = [(x, torch.zeros(4, dtype=torch.long))] * 2
tensors, targets, sources, buffers, pieces, inputs, weights, grads, averages = ([torch.randn(4, 4) for _ in range(2)] for _ in range(9))
buffer, results, losses, norms = torch.zeros(2, 4, 4), [], [], {}
layers = blocks = [nn.Linear(4, 4), nn.Linear(4, 4)]
block = layer = nn.Linear(4, 4)
source, micro_batches, layout, grad = [torch.randn(2, 4)] * 4, [(x, y), (x, y)], [[0]], torch.randn(4)
images_uint8, array, following_host = torch.zeros(4, 3, dtype=torch.uint8), [1.0, 2.0], torch.randn(4, 4)
pinned, staging, path = torch.empty(()), torch.empty(4), os.path.join(FOLDER, "file")
def loss(prediction): return prediction.sum()
def loss_fn(prediction, target): return ((prediction - target) ** 2).mean()
def f(value): return value * 2
def train(batch=None): return net(x)
def process(batch): return batch
def load(number): return number
def write(values, path): torch.save(values, path)
def train_step(batch): return net(batch[0])
def branch_a(x): return x + 1
def branch_b(x): return x - 1
def log(value): assert isinstance(value, float)
def update_metrics(prediction, target): pass
def to_one_tensor(samples): return torch.stack([sample[0] for sample in samples])
def handler(prof): pass
ranks_on_this_node = 1
"""

# Where a name of the program means something else.
OWN = {
    "comm/every-microstep": "model = DDP(net)",
    "comm/full-link": "model = DDP(net)",
    "comm/dominates": "model = DDP(net)",
    "comm/exposed": "model = DDP(net)",
    "comm/object-collectives": "loss = torch.tensor(1.0)",
    "host/tensor-conversions": "model = lambda x, table: x",
    "precision/repeated-cast": "class Model(nn.Linear):\n  def forward(self, x, table=None): return x\nmodel = Model(4, 4)",
    "kernel/algorithm-trials": "x = torch.randn(1, 3, 70, 90)",
    "kernel/dense-embedding-gradients": "rows, dim, tables = 8, 4, []",
    "kernel/recurrent-cells": "dim, hidden, x = 4, 4, torch.randn(2, 3, 4)",
    "step/update-heavy": "rows, dim = 8, 4",
    "kernel/one-hot-product": "classes, dim, ids = 8, 4, torch.tensor([1, 2])\ntable = nn.Embedding(8, 4)",
    "inference/no-key-value-cache": "class Out: past_key_values = None\nclass Model:\n"
        "  def __call__(self, input_ids, use_cache, past_key_values=None): return Out\n"
        "  def generate(self, ids, max_new_tokens, cache_implementation): return ids\n"
        "model, ids, prompt, next_token = Model(), x, x, x",
    "step/forward-without-backward": "def validate(model): pass",
    "kernel/debug-checks": "loss, debug = torch.tensor(1.0), True",
    "kernel/layout-conversion": "model, x = nn.Conv2d(3, 4, 3), torch.randn(1, 3, 8, 8)",
    "kernel/naive-convolution": "model, x = nn.Conv2d(3, 4, 3), torch.randn(1, 3, 8, 8)",
    "kernel/slow-convolutions": "model, x = nn.Conv2d(3, 4, 3), torch.randn(1, 3, 8, 8)",
    "precision/tensor-idle": "model, x = nn.Conv2d(3, 4, 3), torch.randn(1, 3, 8, 8)",
    "launch/host-op-overhead": "with profile() as prof: train()",
    "step/backward-heavy": "with profile() as prof: train()",
    "transfer/copy-operator": "with profile(with_stack=True) as prof: train()",
    "transfer/repeated-upload": "self = nn.Module()",
    "kernel/scan-heavy": "x = torch.randn(4096)",
    "kernel/uncoalesced": "x = torch.randn(2, 3, 4)",
    "kernel/upsampling": "x = torch.randn(1, 3, 8, 8)",
    "kernel/slow-attention": "k = torch.randn(1, 2, 8, 4)",
    "kernel/concatenation": "inputs, weight, n = [torch.randn(4, 4)] * 2, torch.randn(4, 4), 8",
    "memory/leak": "total = torch.tensor(0.0); loss = torch.tensor(1.0)",
    "precision/loss-scaling": "model = lambda x: net(x).sum()",
    "monitor/memory-growth": "loss = torch.tensor(1.0)",
    "step/logging-stall": "loss = torch.tensor(1.0)",
    "step/periodic-stall": "loss = torch.tensor(1.0)",
    "step/cold-start": "step = train",
    "sync/device-sync-in-loop": "step = train",
    "sync/timed-every-step": "step = train",
    "sync/item-in-loop": "total = torch.tensor(0.0); loss = torch.tensor(1.0)",
    "transfer/exposed-copy": "following, results, pinned = x, x, torch.empty(4, 4)",
    "transfer/many-small-copies": "total = 32",
}


class Event:
    """Stands for torch.cuda.Event and torch.cuda.Stream, which need a GPU."""

    def __init__(self, *_, **__):
        self.recorded = False

    def record(self, *_):
        self.recorded = True

    def synchronize(self):
        assert self.recorded, "nothing was recorded to wait for"

    query = wait_event = wait_stream = record_stream = lambda self, *_: None


def on_a_cpu(code):
    """The same snippet for a CPU: its device, and what pins memory or binds to GPUs left out."""
    code = re.sub(r'"cuda(:\d)?"', '"cpu"', code)
    code = re.sub(r'"nccl"', '"gloo"', code)
    code = re.sub(r", device_ids=\[\w+\]|, pin_memory=True|pin_memory=True, ", "", code)
    code = re.sub(r"pin_memory=True", "", code)
    code = re.sub(r"\.record_stream\(.*\)", "", code)
    return code.replace("dtype=torch.float16", "dtype=torch.bfloat16")


@contextlib.contextmanager
def without_a_gpu(torch):
    """torch.cuda with stand-ins for what needs a GPU; only for what it has."""
    nothing = lambda *_, **__: None
    stand_ins = {
        "Event": Event, "Stream": Event, "synchronize": nothing, "set_device": nothing, "current_stream": Event,
        "stream": lambda *_: contextlib.nullcontext(), "memory_allocated": nothing, "set_sync_debug_mode": nothing,
        "memory_summary": lambda: "",
        "memory_stats": lambda: {"num_alloc_retries": 0, "reserved_bytes.all.peak": 0, "allocated_bytes.all.peak": 0},
        "nvtx": types.SimpleNamespace(range=lambda *_: contextlib.nullcontext()),
        "profiler": types.SimpleNamespace(start=nothing, stop=nothing),
    }
    before = {name: getattr(torch.cuda, name) for name in stand_ins}
    for name, stand_in in stand_ins.items():
        setattr(torch.cuda, name, stand_in)
    try:
        yield
    finally:
        for name, one in before.items():
            setattr(torch.cuda, name, one)


class Runs(unittest.TestCase):
    def test_on_a_cpu(self):
        try:
            import torch
            import torch.distributed as dist
        except ImportError:
            print("skipped: PyTorch is not installed (Debian: python3-torch)")
            return
        version = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
        os.environ.update(LOCAL_RANK="0", RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1")
        ran, newer, failed = 0, 0, []
        with tempfile.TemporaryDirectory() as folder, without_a_gpu(torch), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dist.init_process_group("gloo", init_method="file://" + os.path.join(folder, "ranks"), rank=0, world_size=1)
            for rule, number, code in snippets():
                if OTHER_PACKAGES.search(code) or any(part in code for part in NEEDS_GPU):
                    continue
                if any(re.search(part, code) and version < least for part, least in NEWER.items()):
                    newer += 1
                    continue
                names = {"FOLDER": folder}
                try:
                    exec(PROGRAM + OWN.get(rule, ""), names)
                    with contextlib.redirect_stdout(None):
                        exec(compile(on_a_cpu(code), rule, "exec"), names)
                    ran += 1
                except Exception as error:  # whatever it is, the snippet does not run
                    failed.append(f"{rule} {number}: {type(error).__name__}: {error}\n{code}")
            if dist.is_initialized():
                dist.destroy_process_group()
        print(f"PyTorch {torch.__version__}: {ran} snippets ran, {newer} are for newer versions")
        self.assertEqual(failed, [], "\n" + "\n".join(failed))
        self.assertGreater(ran, 100)
        self.assertEqual(set(OWN) - {rule for rule, _, _ in snippets()}, set(), "rules without a snippet")
        for part in NEEDS_GPU:
            self.assertTrue(any(part in code for _, _, code in snippets()), part + ": no snippet has it any longer")


if __name__ == "__main__":
    unittest.main(verbosity=2)
