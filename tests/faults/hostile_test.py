"""What strangers may put into a file: names that steer a terminal, a page, a table or a shell, bombs, and secrets that must
not be passed on.

    hostile_test.py ADVISE ADVISE-SIM
"""

import gzip
import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM, SIMULATE = (os.path.realpath(path) for path in sys.argv[1:3])
ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
SCENARIO = os.path.join(ROOT, "fixtures/scenarios/pairs/loading-over-pageable.toml")

EVIL = (
    "\x1b]0;owned\x07\x1b[2J\x1b[31mred \x9b31m\u202egpj.exe <script>alert(1)</script> </script> "
    "<img src=x onerror=alert(1)> [click](javascript:alert(1)) | cell ``` @everyone\r\n"
    "=cmd|'/C calc'!A0 '; DROP TABLE StringIds; -- $(touch pwned) `touch pwned` {share:pct}"
)

# Twenty kinds of secrets, each in the words around it; the first is what must be gone. Put together here, so that no
# scanner takes this file for a leak.
SECRETS = [
    ("AKIA" + "IOSFODNN7EXAMPLQ", "upload with {}"),
    ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMP9LEKX", "signed {} here"),
    ("ghp_" + "x9YzAbCdEfGhIjKlMnOpQrStUvWx012345", "clone {}"),
    ("github_pat_" + "11ABCDEFG0123456789_abcdefghijkl", "pat {}"),
    ("glpat-" + "x1y2z3x1y2z3x1y2z3x1", "job {}"),
    ("xoxb-" + "123456789012-abcdefABCDEF", "post {}"),
    ("sk-proj-" + "Zz12345678901234567890", "model {}"),
    ("sk-ant-api03-" + "Yy1234567890_abcdef", "model {}"),
    ("hf_" + "QqWwEeRrTtYyUuIiOoPpAaSs", "pull {}"),
    ("0123456789abcdef0123456789abcdef01234567", "wandb {}"),
    ("AIza" + "SyA-1234567890abcdefghijklmnopqrstu", "maps {}"),
    ("eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiJlcmlrYSJ9.c2lnbmF0dXJlLW9mLWVyaWth", "jwt {}"),
    ("MIIEpAIBAAKCAQEA7bq1erikaPrivateKeyBody", "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----"),
    ("erika:hunter2-in-a-url", "git https://{}@git.example.org/a.git"),
    ("dXNlcjpodW50ZXIyLWJhc2lj", "Authorization: Basic {}"),
    ("opaque.bearer-value-0815", "Authorization: Bearer {}"),
    ("npm_" + "abcdefghijklmnopqrstuvwxyz0123456789", "install {}"),
    ("sk_live_" + "51H1234567890abcdef", "pay {}"),
    ("hunter2-on-a-command-line", "run --password {} --epochs 3"),
    ("hunter2-in-json", '{{"user": "u", "db_password": "{}"}}'),
    ("erika.mustermann@example.org", "mail to {}"),
    ("2001:db8:85a3::8a2e:370:7334", "from {}"),
    ("10.47.11.99", "from {} port 22"),
    ("hunter2-as-a-variable", "MY_SECRET={} python train.py"),
]


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def content_of(path):
    with open(path, "rb") as file:
        return file.read()


def without_code(markdown):
    """What Markdown reads as words: without fences, which end at as many back-ticks, and without spans of code."""
    words, fence = [], None
    for line in markdown.split("\n"):
        ticks = re.match(r" {0,3}(`{3,})", line)
        if fence is None and ticks and "`" not in line[ticks.end() :]:
            fence = ticks[1]
        elif fence is not None:
            if re.fullmatch(r" {0,3}`{%d,}\s*" % len(fence), line):
                fence = None
        else:
            words.append(re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", line))
    return "\n".join(words)


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.sqlite, cls.trace = (os.path.join(cls.place.name, name) for name in ("run.sqlite", "run.json"))
        subprocess.run([SIMULATE, SCENARIO, "-o", cls.sqlite], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([SIMULATE, SCENARIO, "-o", cls.trace, "--format", "kineto"], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def setUp(self):
        self.work = tempfile.mkdtemp(dir=self.place.name)

    def path(self, name):
        return os.path.join(self.work, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)

    def advise(self, *words, memory=4 << 30, seconds=20, status=None):
        """Bytes of output and of complaints; at most so much memory, and time of processors."""
        begin = processor_time()
        done = subprocess.run(
            [PROGRAM, *words],
            cwd=self.work,
            env={"PATH": "/usr/bin:/bin", "HOME": self.work},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=4 * seconds,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)),
            check=False,
        )
        self.assertGreaterEqual(done.returncode, 0, (words, done.stderr[-500:]))
        self.assertLess(processor_time() - begin, seconds, words)
        if status is not None:
            self.assertEqual(done.returncode, status, (words, done.stderr[-500:]))
        return done.stdout, done.stderr


class NamesTest(Hostile):
    def evil_reports(self):
        """Both formats, with evil in every kind of name."""
        self.write("run.sqlite", content_of(self.sqlite))
        with sqlite3.connect(self.path("run.sqlite")) as db:
            db.execute("UPDATE StringIds SET value = value || ?", (EVIL,))
            db.execute("UPDATE TARGET_INFO_GPU SET name = name || ?", (EVIL,))
            db.execute("UPDATE ThreadNames SET nameId = 1")
            db.execute("UPDATE PROCESSES SET name = ?", (EVIL,))
        db.close()
        with open(self.trace, encoding="utf-8") as file:
            trace = json.load(file)
        for event in trace["traceEvents"]:
            if event.get("cat") in ("kernel", "user_annotation", "cpu_op", "python_function"):
                event["name"] += EVIL
        for device in trace.get("deviceProperties", []):
            device["name"] = str(device.get("name", "")) + EVIL
        self.write("run.json", json.dumps(trace).encode())
        return ("run.sqlite", "run.json")

    def check_printed(self, output, words):
        text = output.decode("utf-8")  # always valid
        for sign in text:
            code = ord(sign)
            harmful = (code < 0x20 and sign != "\n") or 0x7F <= code < 0xA0 or 0x2028 <= code <= 0x202E or 0x2066 <= code <= 0x2069
            self.assertFalse(harmful, (words, hex(code)))
        return text

    def test_no_name_steers_a_terminal(self):
        for report in self.evil_reports():
            for words in ([report], [report, "--all-fixes", "--devices", "--top", "50"], ["facts", report, "--tables"],
                          ["why", "input/stall", report], [report, "--format", "markdown"], ["whatif", report], [report, "--brief"],
                          ["compare", report, report]):  # fmt: skip
                output, said = self.advise(*words)
                text = self.check_printed(output, words)
                self.check_printed(said, words)
                for line in text.split("\n"):
                    self.assertFalse(line.startswith("=cmd"), words)

    def test_no_name_makes_a_tag_a_script_or_a_link(self):
        for report in self.evil_reports():
            page = self.advise(report, "--format", "html")[0].decode()
            self.assertNotIn("<script>alert", page)
            self.assertNotIn("<img src=x", page)
            self.assertNotIn('href="javascript', page)
            # Scripts end where the page says, nowhere else.
            self.assertEqual(page.count("<script"), page.count("</script>"))
            markdown = self.advise(report, "--format", "markdown")[0].decode()
            words = without_code(markdown)
            self.assertNotRegex(words, r"(?<!\\)<(script|img|/script)")
            self.assertNotRegex(words, r"(?<!\\)\[click(?<!\\)\]\(")

    def test_json_stays_json(self):
        for report in self.evil_reports():
            for words in ([report, "--format", "json", "--facts"], [report, "--format", "sarif"], ["slice", report]):
                output, _ = self.advise(*words)
                if words[0] != "slice" or output:
                    json.loads(output.decode("utf-8"))

    def test_what_is_to_be_pasted_into_a_shell_does_no_harm(self):
        """Statements of SQL that check a finding are run as they stand."""
        for report in self.evil_reports():
            text = self.advise(report, "--top", "50")[0].decode()
            for line in text.split("\n"):
                match = re.search(r"(sqlite3 .*?;\")", line)
                if match and report.endswith(".sqlite"):
                    subprocess.run(["/bin/sh", "-c", match[1]], cwd=self.work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
            self.assertFalse(os.path.exists(self.path("pwned")))
        with sqlite3.connect(self.path("run.sqlite")) as db:
            self.assertGreater(db.execute("SELECT count(*) FROM StringIds").fetchone()[0], 3)
        db.close()

    def test_no_name_is_a_path(self):
        """Files named in a trace are not opened, and outputs go nowhere but to -o."""
        with open(self.trace, encoding="utf-8") as file:
            trace = json.load(file)
        for event in trace["traceEvents"]:
            if event.get("cat") == "python_function":
                event["name"] = "/etc/passwd(1): ../../../../etc/passwd"
        trace["traceName"] = "../../../../tmp/evil"
        self.write("run.json", json.dumps(trace).encode())
        output, _ = self.advise("run.json", "--format", "html")
        self.assertNotIn(b"root:x:0", output)
        for name in ("../evil", "transfer/../../evil", "/tmp/evil", "a/b/c"):
            _, said = self.advise("rules", "new", name)
            self.assertNotEqual(said, b"", name)
        self.assertEqual(sorted(os.listdir(self.work)), ["run.json"])


class BombTest(Hostile):
    """No more than 2 GB, and not long, whatever a small file unpacks to."""

    def setUp(self):
        super().setUp()
        self.write("run.sqlite", content_of(self.sqlite))

    def refused_or_read(self, *words):
        output, said = self.advise(*words, memory=2 << 30, seconds=15)
        self.assertTrue(output or said)
        self.assertNotIn(b"terminate", said)

    def test_packed_zeros(self):
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        block, packed = bytes(1 << 20), [packer.compress(b'{"traceEvents": [')]
        packed += [packer.compress(block) for _ in range(1000)]
        self.write("zeros.json.gz", b"".join(packed) + packer.flush())
        self.refused_or_read("zeros.json.gz")
        self.refused_or_read("scrub", "zeros.json.gz", "-o", "out.json")

    def test_packed_events(self):
        """A megabyte that unpacks to three million events of one name."""
        event = b'{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1},\n' * 10000
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        packed = [packer.compress(b'{"traceEvents": [')] + [packer.compress(event) for _ in range(300)]
        self.write("many.json.gz", b"".join(packed) + packer.flush())
        self.refused_or_read("many.json.gz")

    def test_depth(self):
        for name, text in (
            ("deep.json", b'{"traceEvents": ' + b"[" * 1000000),
            ("deep2.json", b'{"traceEvents": [{"ph": "X", "args": ' + b'{"a":' * 500000),
            ("deep3.json", b'{"schemaVersion": 1, "a": ' + b"[" * 500000 + b"]" * 500000 + b', "traceEvents": []}'),
        ):
            self.write(name, text)
            self.refused_or_read(name)
            self.refused_or_read("scrub", name, "-o", name + ".out")
            self.refused_or_read("run.sqlite", "--baseline", name)
        self.write("deep.toml", b"a = " + b"[" * 200000)
        self.refused_or_read("run.sqlite", "--config", "deep.toml")
        self.write("deep2.toml", b"a." * 100000 + b"b = 1")
        self.refused_or_read("run.sqlite", "--config", "deep2.toml")
        os.mkdir(self.path("rules"))
        os.mkdir(self.path("rules/transfer"))
        self.write("rules/transfer/deep.lua", b"return " + b"{" * 200000)
        self.refused_or_read("run.sqlite", "--rules", "rules")

    def test_long_lines(self):
        for name, text in (
            ("quotes.csv", b'"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"' + b'"' * 1000000),
            ("commas.csv", b"timestamp, index, utilization.gpu [%]" + b"," * 1000000 + b"\n" + b"," * 1000000),
            ("stack.txt", b";".join([b"f"] * 500000) + b" 1\nmain;a 2\n"),
            ("stacks.txt", b"".join(b"main;f%d 1\n" % i for i in range(100000))),
            ("nccl.txt", b"node1:1:1 [0] NCCL INFO " + b"Channel 00/02 : 0 1 " * 50000 + b"\n"),
            ("dmon.txt", b"# gpu   pwr\n# Idx     W\n" + b"    0    50\n" * 80000),
            ("topo.txt", b"\tGPU0\t" + b"\t".join(b"GPU%d" % i for i in range(1, 3000)) + b"\nGPU0\t X \t" + b"NV1\t" * 200000),
            ("prometheus.txt", b"".join(b'DCGM_FI_DEV_GPU_UTIL{gpu="%d",UUID="GPU-%d"} 1\n' % (i, i) for i in range(20000))),
        ):
            self.write(name, text)
            self.refused_or_read(name)
        self.assertIn(b"under 0.1 % of 100,000 samples", self.advise("stacks.txt")[0])

    def test_facts_that_unpack_to_a_gigabyte(self):
        self.advise("facts", "run.sqlite", "-o", "run.facts", status=0)
        try:
            packed = subprocess.run(
                ["/bin/sh", "-c", "head -c 1000000000 /dev/zero | zstd -q --no-check --stream-size=1000000000 -c"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
            ).stdout  # fmt: skip
        except subprocess.CalledProcessError:
            self.skipTest("no zstd")
        self.assertLess(len(packed), 1 << 20)
        with sqlite3.connect(self.path("run.facts")) as db:
            db.execute("UPDATE sections SET content = ?, checksum = ?", (packed, zlib.crc32(packed)))
        db.close()
        self.refused_or_read("run.facts")


class ScrubTest(Hostile):
    def check_gone(self, content, source):
        for secret, _ in SECRETS:
            self.assertIn(secret.replace("/", "").encode(), source.replace(b"\\/", b"/").replace(b"/", b""), "planted")
            plain = content.replace(b"\\/", b"/")
            self.assertNotIn(secret.encode(), plain, "still there")
            # Nor the larger part of it.
            self.assertNotIn(secret[len(secret) // 4 :].encode(), plain, "most of it is still there")

    def test_sqlite_reports(self):
        self.write("run.sqlite", content_of(self.sqlite))
        with sqlite3.connect(self.path("run.sqlite")) as db:
            for number, (secret, words) in enumerate(SECRETS):
                text = words.format(secret)
                db.execute("INSERT INTO StringIds VALUES (?, ?)", (900000 + number, text))
                for column, value in (("textId", 900000 + number), ("text", text)):
                    db.execute(
                        "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, %s) SELECT start + ?, start + ?, 59, globalTid, ?"
                        " FROM NVTX_EVENTS WHERE end IS NOT NULL LIMIT 1" % column,
                        (2 * number, 2 * number + 1, value),
                    )
                db.execute("INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', ?)", ('WORDS="%s"' % text,))
                db.execute("INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', ?)", ('NCCL_WORDS="%s"' % text,))
            db.execute("UPDATE PROCESSES SET name = ?", (" ".join(words.format(secret) for secret, words in SECRETS),))
        db.close()
        self.advise("scrub", "run.sqlite", "-o", "clean.sqlite", status=0)
        self.check_gone(content_of(self.path("clean.sqlite")), content_of(self.path("run.sqlite")))

    def test_traces_plain_and_packed(self):
        with open(self.trace, encoding="utf-8") as file:
            trace = json.load(file)
        for number, (secret, words) in enumerate(SECRETS):
            text = words.format(secret)
            for category in ("user_annotation", "cpu_op", "kernel", "python_function", "cuda_runtime"):
                trace["traceEvents"].append(
                    {"ph": "X", "cat": category, "name": text, "pid": 0, "tid": 7, "ts": 100 + number, "dur": 0.5,
                     "args": {"note": text, "Concrete Inputs": [text], "External id": 1, "kernel file": text, "stream": 7, "device": 0}}
                )  # fmt: skip
            trace["traceEvents"].append({"ph": "M", "name": "process_name", "pid": 90 + number, "tid": 0, "ts": 0, "args": {"name": text}})
            trace["header%d" % number] = text
            trace["password%d" % number] = text
        source = json.dumps(trace).encode()
        self.write("run.json", source)
        self.write("run.json.gz", gzip.compress(source, 1))
        for name in ("run.json", "run.json.gz"):
            for output in ("clean.json", "clean.json.gz"):
                self.advise("scrub", name, "-o", output, status=0)
                content = content_of(self.path(output))
                if output.endswith(".gz"):
                    content = gzip.decompress(content)
                json.loads(content)
                self.check_gone(content, source)
                os.remove(self.path(output))

    def test_a_secret_that_is_told_once_is_gone_everywhere(self):
        """A value that only the name of its variable gives away, also where it stands alone."""
        secret = "umbrella-Giraffe7-teapot"
        self.write("run.sqlite", content_of(self.sqlite))
        with sqlite3.connect(self.path("run.sqlite")) as db:
            db.execute("INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'DB_PASSWORD=\"%s\"')" % secret)
            db.execute("INSERT INTO StringIds VALUES (900000, ?)", ("load with " + secret,))
            for column, value in (("textId", 900000), ("text", secret)):
                db.execute(
                    "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, %s) SELECT start, start + 1, 59, globalTid, ?"
                    " FROM NVTX_EVENTS WHERE end IS NOT NULL LIMIT 1" % column,
                    (value,),
                )
        db.close()
        self.advise("scrub", "run.sqlite", "-o", "clean.sqlite", status=0)
        self.assertEqual(content_of(self.path("clean.sqlite")).count(secret.encode()), 0)

        with open(self.trace, encoding="utf-8") as file:
            trace = json.load(file)
        event = {"ph": "X", "cat": "user_annotation", "pid": 0, "tid": 7, "ts": 100, "dur": 0.5}
        trace["traceEvents"].insert(0, {**event, "name": "load with " + secret})
        trace["traceEvents"].append({**event, "name": secret})
        trace["environment"] = {"DB_PASSWORD": secret}  # behind the events that hold it
        self.write("run.json", json.dumps(trace).encode())
        self.advise("scrub", "run.json", "-o", "clean.json", status=0)
        self.assertEqual(content_of(self.path("clean.json")).count(secret.encode()), 0)

    def test_other_formats_are_refused(self):
        """Nothing is copied that the scrubber does not know, and no error prints what is in it."""
        secret, words = SECRETS[0]
        text = words.format(secret)
        inputs = {
            "nccl.log": "gpu17:101:101 [0] NCCL INFO Bootstrap : Using eth0:10.1.2.3<0>\ngpu17:101:101 [0] NCCL INFO NCCL version 2.18 %s\n",
            "dmon.txt": "# gpu   pwr gtemp mtemp    sm   mem\n# Idx     W     C     C     %%     %%\n    0    70    40     -    50    20 %s\n",
            "smi.csv": "timestamp, name, utilization.gpu [%%]\n2026/01/01 00:00:00.000, %s, 50 %%\n",
            "dcgm.txt": "#Entity   GPUTL\nID\nGPU 0     50 %s\n",
            "ncu.csv": '"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"0","1","%s","gpu__time_duration.sum","ns","10"\n',
            "stacks.folded": "main;train;%s 10\nmain;load 5\n",
            "report.nsys-rep": "NVIDIA Nsight Systems report %s",
            "report.ncu-rep": "NVR\0%s",
            "settings.toml": 'title = "%s"\n',
            "notes.txt": "%s",
        }
        for name, content in inputs.items():
            for packed in (False, True):
                data = (content % text).encode()
                self.write(name, gzip.compress(data) if packed else data)
                printed = self.advise("scrub", name, "-o", "clean", status=3)
                self.assertNotIn(secret, str(printed), name)
                self.assertFalse(any(file.startswith("clean") for file in os.listdir(self.work)), name)

    def test_no_report_prints_an_environment(self):
        """A diagnosis warns of secrets, and no form of it prints them; nor does a facts file hold them."""
        self.write("run.sqlite", content_of(self.sqlite))
        with sqlite3.connect(self.path("run.sqlite")) as db:
            for number, (secret, _) in enumerate(SECRETS):
                db.execute("INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', ?)", ('SERVICE%d_TOKEN="%s"' % (number, secret),))
        db.close()
        outputs = [self.advise("run.sqlite", "--format", form)[0] for form in ("text", "json", "markdown", "html", "sarif")]
        outputs.append(self.advise("facts", "run.sqlite", "--tables")[0])
        self.advise("facts", "run.sqlite", "-o", "run.facts", status=0)
        outputs.append(content_of(self.path("run.facts")))
        outputs.append(self.advise("facts", "run.facts", "--format", "json", "--tables")[0])
        self.assertIn(b"capture/secrets", outputs[1])
        for output in outputs:
            for secret, _ in SECRETS:
                self.assertNotIn(secret.encode(), output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
