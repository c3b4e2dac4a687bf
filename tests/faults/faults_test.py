"""What disks, other processes and limits do to the program: it says what is wrong in one line, keeps what was there before,
and never crashes or hangs.

    faults_test.py ADVISE ADVISE-SIM
"""

import os
import pty
import re
import resource
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, SIMULATE = (os.path.realpath(path) for path in sys.argv[1:3])
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", ".."))
# Seconds after which the program hangs; a machine that does much else may need tens of them for what takes one.
PATIENCE = 200
SCENARIO = os.path.join(ROOT, "fixtures/scenarios/pairs/loading-over-pageable.toml")
FIRST_FIX = "Load data in worker processes"


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.shim = os.path.join(cls.place.name, "shim.so")
        compiler = shutil.which("cc") or shutil.which("gcc")
        built = compiler and subprocess.run(
            [compiler, "-shared", "-fPIC", "-O1", os.path.join(HERE, "fault_shim.c"), "-o", cls.shim, "-ldl"], check=False
        )
        if not built or built.returncode != 0:
            cls.shim = None
        for name, more in (("run.sqlite", []), ("run.json", ["--format", "kineto"]), ("new.sqlite", ["--without", "all"])):
            subprocess.run(
                [SIMULATE, SCENARIO, "-o", os.path.join(cls.place.name, name), *more], check=True, stdout=subprocess.DEVNULL
            )

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def setUp(self):
        self.work = tempfile.mkdtemp(dir=self.place.name)
        self.copied("run.sqlite")

    def copied(self, name, to=None):
        path = os.path.join(self.work, to or name)
        shutil.copyfile(os.path.join(self.place.name, name), path)
        return path

    def advise(self, *words, limit=None, environment=None, stdout=subprocess.PIPE, before=()):
        """Exit status, output, error output. A signal, a hang or more than a few lines of complaint fail the test."""

        def limited():
            if limit:
                resource.setrlimit(*limit)

        done = subprocess.run(
            [*before, PROGRAM, *words],
            cwd=self.work,
            env={"PATH": "/usr/bin:/bin", "HOME": self.work, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            preexec_fn=limited,
            check=False,
        )
        said = done.stderr.decode(errors="replace")
        self.assertGreaterEqual(done.returncode, 0, "ended by a signal: " + said)
        self.assertLess(said.count("\n"), 6, said)
        self.assertNotIn("terminate called", said)
        return done.returncode, (done.stdout or b"").decode(errors="replace"), said

    def names(self):
        return sorted(os.listdir(self.work))


class WritingTest(Faults):
    def test_a_full_disk_keeps_the_report_that_was_there(self):
        """A limit on the size of files stands in for the disk."""
        for form in ("json", "html", "text"):
            before = os.path.join(self.work, "report")
            with open(before, "w", encoding="utf-8") as file:
                file.write("the report of yesterday\n")
            status, _, said = self.advise(
                "run.sqlite", "--format", form, "-o", "report", limit=(resource.RLIMIT_FSIZE, (512, 512))
            )
            self.assertNotEqual(status, 0)
            self.assertIn("cannot be written", said)
            with open(before, encoding="utf-8") as file:
                self.assertEqual(file.read(), "the report of yesterday\n")
            self.assertEqual(self.names(), ["report", "run.sqlite"])

    def test_a_full_device(self):
        status, _, said = self.advise("run.sqlite", "-o", "/dev/full")
        self.assertNotEqual(status, 0)
        self.assertIn("No space left", said)
        with open("/dev/full", "w", encoding="utf-8") as full:
            status, _, said = self.advise("run.sqlite", stdout=full)
        self.assertNotEqual(status, 0)
        self.assertIn("No space left", said)

    def test_facts_and_scrubbed_copies_on_a_full_disk(self):
        for words in (("facts", "run.sqlite", "-o", "run.facts"), ("scrub", "run.sqlite", "-o", "clean.sqlite")):
            status, _, said = self.advise(*words, limit=(resource.RLIMIT_FSIZE, (8192, 8192)))
            self.assertNotEqual(status, 0, words)
            self.assertNotEqual(said, "")
            self.assertEqual(self.names(), ["run.sqlite"], words)

    def test_an_output_keeps_its_rights_and_links_stay(self):
        real = os.path.join(self.work, "real.txt")
        with open(real, "w", encoding="utf-8"):
            pass
        os.chmod(real, 0o640)
        os.symlink("real.txt", os.path.join(self.work, "link.txt"))
        self.assertEqual(self.advise("run.sqlite", "-o", "link.txt")[0], 0)
        self.assertTrue(os.path.islink(os.path.join(self.work, "link.txt")))
        self.assertEqual(os.stat(real).st_mode & 0o777, 0o640)
        self.assertGreater(os.path.getsize(real), 100)

    def test_an_output_in_a_folder_that_is_not_there(self):
        status, _, said = self.advise("run.sqlite", "-o", "none/report.txt")
        self.assertNotEqual(status, 0)
        self.assertIn("No such file or directory", said)

    def test_a_folder_that_may_only_be_read(self):
        """New outputs are an error and leave nothing; a report that may be changed is, in its place. What lies there is read."""
        if os.geteuid() == 0 and shutil.which("setpriv") is None:
            self.skipTest("root may write everywhere, and there is no setpriv")
        folder = os.path.join(self.work, "folder")
        os.mkdir(folder)
        os.rename(os.path.join(self.work, "run.sqlite"), os.path.join(folder, "run.sqlite"))
        with open(os.path.join(folder, "report"), "w", encoding="utf-8") as file:
            file.write("the report of yesterday\n")
        os.chmod(folder, 0o555)
        before = sorted(os.listdir(folder))
        as_usual = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
        for words in (
            ("folder/run.sqlite", "-o", "folder/new"),
            ("folder/run.sqlite", "--format", "html", "-o", "folder/new.html"),
            ("facts", "folder/run.sqlite", "-o", "folder/run.facts"),
            ("scrub", "folder/run.sqlite", "-o", "folder/clean.sqlite"),
        ):
            status, _, said = self.advise(*words, before=as_usual)
            self.assertNotEqual(status, 0, words)
            self.assertIn("cannot be written: ", said, words)
            self.assertEqual(sorted(os.listdir(folder)), before, words)
        status, output, said = self.advise("folder/run.sqlite", before=as_usual)
        self.assertEqual((status, said), (0, ""))
        self.assertIn(FIRST_FIX, output)
        self.assertEqual(self.advise("folder/run.sqlite", "-o", "folder/report", before=as_usual)[0], 0)
        with open(os.path.join(folder, "report"), encoding="utf-8") as file:
            self.assertEqual(file.read(), output)
        self.assertEqual(sorted(os.listdir(folder)), before)
        os.chmod(folder, 0o755)

    def test_two_processes_write_one_output(self):
        self.copied("new.sqlite")
        wanted = {}
        for name in ("run", "new"):
            self.assertEqual(self.advise(name + ".sqlite", "--format", "json", "-o", name + ".json")[0], 0)
            with open(os.path.join(self.work, name + ".json"), "rb") as file:
                wanted[file.read()] = name
        for _ in range(4):
            both = [
                subprocess.Popen([PROGRAM, name + ".sqlite", "--format", "json", "-o", "both.json"], cwd=self.work)
                for name in ("run", "new")
            ]
            self.assertEqual([one.wait(PATIENCE) for one in both], [0, 0])
            with open(os.path.join(self.work, "both.json"), "rb") as file:
                self.assertIn(file.read(), wanted)
        self.assertEqual(self.names(), ["both.json", "new.json", "new.sqlite", "run.json", "run.sqlite"])

    def test_a_reader_that_goes_away(self):
        """advise … | head -n 1"""
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "w") as closed:
            done = subprocess.run(
                [PROGRAM, "run.sqlite"], cwd=self.work, stdout=closed, stderr=subprocess.PIPE, timeout=PATIENCE, check=False
            )
        self.assertIn(done.returncode, (-signal.SIGPIPE, 2, 3))

    def test_without_standard_output(self):
        done = subprocess.run(
            ["/bin/sh", "-c", '"$0" run.sqlite >&-', PROGRAM], cwd=self.work, stderr=subprocess.PIPE, timeout=PATIENCE, check=False
        )
        self.assertGreater(done.returncode, 0)
        self.assertIn(b"standard output", done.stderr)

    def test_interrupted_at_any_time_nothing_stays(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for wait in (0.0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15):
                for words in (["run.sqlite", "--format", "html", "-o", "o"], ["facts", "run.sqlite", "-o", "o"],
                              ["scrub", "run.sqlite", "-o", "o"]):  # fmt: skip
                    running = subprocess.Popen([PROGRAM, *words], cwd=self.work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    time.sleep(wait)
                    running.send_signal(number)
                    self.assertIn(running.wait(PATIENCE), (0, -number), words)
                    left = set(self.names()) - {"run.sqlite"}
                    self.assertIn(left, (set(), {"o"}), words)
                    if left:
                        os.remove(os.path.join(self.work, "o"))

    def test_long_work_shows_how_far_it_is_and_an_interrupt_takes_it_back(self):
        """In a terminal. The program runs in short turns, as on a busy machine, so that half a second passes while it reads."""
        long = os.path.join(self.work, "long")
        for form, shown in (("nsys", rb"reading: \d+ % of [\d.]+ (thousand|million) rows"), ("kineto", rb"reading: \d+ % of [\d.]+ MB")):
            subprocess.run(
                [SIMULATE, SCENARIO, "--steps", "3000", "--format", form, "-o", long], check=True, stdout=subprocess.DEVNULL
            )
            ours, theirs = pty.openpty()
            running = subprocess.Popen([PROGRAM, long, "-o", "o"], cwd=self.work, stdout=subprocess.DEVNULL, stderr=theirs)
            os.close(theirs)
            said = b""
            for _ in range(200):
                time.sleep(0.01)
                running.send_signal(signal.SIGSTOP)
                time.sleep(0.26)
                said += self.waiting(ours)
                if re.search(shown, said) or running.poll() is not None:
                    break
                running.send_signal(signal.SIGCONT)
            self.assertRegex(said, shown)
            running.send_signal(signal.SIGINT)
            running.send_signal(signal.SIGCONT)
            self.assertEqual(running.wait(PATIENCE), -signal.SIGINT)
            said += self.waiting(ours, PATIENCE)
            self.assertTrue(said.endswith(b"\r\x1b[K"), said)
            self.assertEqual(self.names(), ["long", "run.sqlite"])
            os.close(ours)

    @staticmethod
    def waiting(terminal, patience=0):
        """What was written to a terminal and not read yet; with patience until nobody has it open any more."""
        said = b""
        while select.select([terminal], [], [], patience)[0]:
            try:
                more = os.read(terminal, 65536)
            except OSError:  # nobody has it open any more
                break
            said += more
            if not more:
                break
        return said


class ReadingTest(Faults):
    def faulty(self, name, fault, after, words=(), **more):
        if self.shim is None:
            self.skipTest("no C compiler")
        environment = {"LD_PRELOAD": self.shim, "FAULT": fault, "FAULT_PATH": "/" + name, "FAULT_AFTER": str(after), **more}
        return self.advise(name, "--no-site", *words, environment=environment)

    def test_a_broken_disk(self):
        """EIO from any place on: what was read is said to be a part, or the file is refused; never a healthy run."""
        self.copied("run.json")
        for name in ("run.sqlite", "run.json"):
            size = os.path.getsize(os.path.join(self.work, name))
            for share in (0, 0.01, 0.3, 0.6, 0.95):
                status, output, said = self.faulty(name, "eio", int(size * share))
                told = output + said
                self.assertTrue(
                    status == 3 or any(word in told for word in ("damaged", "cut", "could not be read", "Input/output error", "malformed", "I/O")),
                    (name, share, status, told),
                )

    def test_a_page_that_is_damaged(self):
        """Of the program itself, whose libraries are archives: exceptions passed some code in tests that they ended it in."""
        with open(os.path.join(self.work, "run.sqlite"), "rb") as file:
            whole = file.read()
        for page in range(1, len(whole) // 4096):
            # Pages above the leaves, and every third of the others.
            if whole[page * 4096] != 5 and page % 3:
                continue
            with open(os.path.join(self.work, "damaged.sqlite"), "wb") as file:
                file.write(whole[: page * 4096] + b"\x07" + whole[page * 4096 + 1 :])
            status, output, said = self.advise("damaged.sqlite", "--no-site")
            self.assertTrue(output or said, page)
            self.assertIn(status, (0, 3), page)

    def test_a_file_that_is_cut_while_it_is_read(self):
        for name in ("run.sqlite", "run.json"):
            size = os.path.getsize(os.path.join(self.place.name, name))
            for share in (0.1, 0.5, 0.9):
                self.copied(name)
                whole = self.advise(name, "--no-site")[1]  # as it is said where all was read before
                status, output, said = self.faulty(name, "cut", int(size * share))
                told = output + said
                self.assertTrue(
                    status == 3 or output == whole or any(word in told for word in ("damaged", "cut", "while it was read", "could not be read", "malformed")),
                    (name, share, status, told),
                )

    def test_a_file_that_is_replaced_while_it_is_read(self):
        self.copied("new.sqlite")
        size = os.path.getsize(os.path.join(self.work, "run.sqlite"))
        other = os.path.join(self.work, "new.sqlite")
        # Before anything else was read, it is the other run's report, and nothing else.
        whole = self.advise("new.sqlite", "--no-site")[1].replace("new.sqlite", "run.sqlite")
        for after in (1, size // 2, size, 3 * size // 2):
            self.copied("run.sqlite")
            self.copied("new.sqlite")
            status, output, said = self.faulty("run.sqlite", "swap", after, FAULT_OTHER=other)
            self.assertTrue(status == 3 or "while it was read" in output + said or FIRST_FIX in output or output == whole, output + said)

    def test_a_database_that_is_being_written(self):
        path = os.path.join(self.work, "run.sqlite")
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("PRAGMA journal_mode = wal")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("BEGIN")
        writer.execute("INSERT INTO StringIds VALUES (999999, 'not yet')")
        try:
            status, output, said = self.advise("run.sqlite")
            self.assertEqual(status, 0, said)
            self.assertIn(FIRST_FIX, output)
        finally:
            writer.execute("COMMIT")
            writer.close()

    def test_a_pipe_is_refused_and_not_waited_for(self):
        os.mkfifo(os.path.join(self.work, "pipe"))
        for words in (["pipe"], ["facts", "pipe"], ["scrub", "pipe", "-o", "out"], ["compare", "pipe", "run.sqlite"],
                      ["run.sqlite", "pipe"]):  # fmt: skip
            status, _, said = self.advise(*words)
            self.assertIn(status, (2, 3, 4), words)
            self.assertIn("pipe", said, words)
        status, _, said = self.advise("/dev/null")
        self.assertEqual(status, 3, said)
        os.mkdir(os.path.join(self.work, "folder"))
        os.mkfifo(os.path.join(self.work, "folder", "pipe"))
        self.copied("run.sqlite", "folder/run.sqlite")
        self.assertEqual(self.advise("folder")[0], 0)

    def test_settings_that_are_pipes_or_devices(self):
        """Refused, and not waited for; what a shell passes as /dev/fd is read, and /dev/null is no setting."""
        for name in ("pipe", "pipe.toml", "pipe.lua"):
            os.mkfifo(os.path.join(self.work, name))
        os.mkdir(os.path.join(self.work, "site"))
        os.mkfifo(os.path.join(self.work, "site", "pipe.lua"))
        for words in (["run.sqlite", "--config", "pipe.toml"], ["run.sqlite", "--baseline", "pipe"], ["rules", "test", "pipe.lua"],
                      ["run.sqlite", "--config", "/dev/zero"], ["run.sqlite", "--baseline", "/dev/zero"],
                      ["run.sqlite", "--rules", "site"]):  # fmt: skip
            status, _, said = self.advise(*words)
            self.assertIn(status, (2, 3, 4), words)
            self.assertIn("no such rule file" if words[0] == "rules" else "a pipe or a device", said, words)
        status, _, said = self.advise("run.sqlite", "--config", "/dev/null")
        self.assertEqual(status, 0, said)
        done = subprocess.run(
            ["/bin/bash", "-c", '"$0" run.sqlite --config <(echo "no_such_setting = 1")', PROGRAM],
            cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 4)
        self.assertIn(b"no_such_setting", done.stderr)

    def test_a_clock_of_the_system_that_jumps(self):
        """Back to 1970 and on to 2100 at each look; files of the future: the same answer."""
        self.copied("run.json")
        for name in ("run.sqlite", "run.json"):
            wanted = self.advise(name, "--format", "json", "--no-site")[1]
            for date in (-3600, 0, 4102444800):
                os.utime(os.path.join(self.work, name), (date, date))
                status, output, said = self.faulty(name, "clock", 0, words=("--format", "json"))
                self.assertEqual((status, said), (0, ""))
                self.assertEqual(output, wanted)

    def test_clocks_of_the_system_that_jump_ahead(self):
        """By a day at each look, as when a machine sleeps: the same answer, and nobody takes it for a hang."""
        self.copied("run.json")
        for name in ("run.sqlite", "run.json"):
            wanted = self.advise(name, "--format", "json", "--no-site")[1]
            status, output, said = self.faulty(name, "ahead", 0, words=("--format", "json"))
            self.assertEqual((status, said), (0, ""))
            self.assertEqual(output, wanted)

    def test_a_clock_of_the_report_that_jumps(self):
        """By an hour, in the middle of the run, on the GPU alone or everywhere: an answer, and times that are times."""
        for tables in (("KERNEL",), ("KERNEL", "MEMCPY", "MEMSET", "RUNTIME")):
            for seconds in (-3600, 3600, 10**9):
                path = self.copied("run.sqlite")
                report = sqlite3.connect(path)
                middle = report.execute("SELECT (min(start) + max(start)) / 2 FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
                for table in tables:
                    report.execute(
                        "UPDATE CUPTI_ACTIVITY_KIND_%s SET start = start + ?1, end = end + ?1 WHERE start > ?2" % table,
                        (seconds * 10**9, middle),
                    )
                report.commit()
                report.close()
                status, output, said = self.advise("run.sqlite", "--no-site")
                self.assertIn(status, (0, 3), said)
                for word in ("nan", "inf ", "-nan", " -1", "1e+"):
                    self.assertNotIn(word, output, (tables, seconds))
                self.assertNotIn("No GPU activity", output, (tables, seconds))
                if seconds < 0 and tables == ("KERNEL",):  # work before its launch
                    self.assertIn("the clocks of host and GPU disagree", " ".join(output.split()))

    def test_links_that_lead_in_circles(self):
        os.symlink("loop", os.path.join(self.work, "loop"))
        status, _, said = self.advise("loop")
        self.assertIn(status, (2, 3))
        self.assertIn("loop", said)
        folder = os.path.join(self.work, "folder")
        os.mkdir(folder)
        os.symlink("../folder", os.path.join(folder, "again"))
        os.symlink("nowhere", os.path.join(folder, "dangling"))
        os.symlink("self", os.path.join(folder, "self"))
        self.copied("run.sqlite", "folder/run.sqlite")
        status, output, said = self.advise("folder")
        self.assertEqual(status, 0, said)
        self.assertIn(FIRST_FIX, output)

    def test_a_hundred_thousand_files(self):
        folder = os.path.join(self.work, "folder")
        os.mkdir(folder)
        for number in range(100000):
            os.mknod(os.path.join(folder, "f%d" % number))
        self.copied("run.sqlite", "folder/run.sqlite")
        status, output, said = self.advise("folder")
        self.assertEqual(status, 0, said)
        self.assertIn(FIRST_FIX, output)

    def test_names_that_are_no_words(self):
        for name in ("two\nlines.sqlite", "\x1b[31mred.sqlite", "-q.sqlite", "a b'c\"d$e`f.sqlite", "\udcff\udcfe.sqlite"):
            os.rename(os.path.join(self.work, self.names()[0]), os.path.join(self.work, name))
            status, output, said = self.advise("./" + name)
            self.assertEqual(status, 0, said)
            self.assertNotIn("\x1b", output + said)
            self.assertNotIn("two\nlines", output)
            status, _, said = self.advise("./none" + name)
            self.assertEqual(status, 3)
            self.assertEqual(said.count("\n"), 1, said)
            self.assertNotIn("\x1b", said)

    def test_little_memory(self):
        """Of address space: the answer or one line, never a crash."""
        for mebibytes in (60, 100, 150, 250, 400):
            size = mebibytes << 20
            status, output, said = self.advise("run.sqlite", limit=(resource.RLIMIT_AS, (size, size)))
            if status == 0:
                self.assertIn(FIRST_FIX, output)
            else:
                self.assertNotEqual(said, "", mebibytes)

    def test_few_files_and_processes(self):
        for limit in ((resource.RLIMIT_NOFILE, (12, 12)),):
            status, output, said = self.advise("run.sqlite", limit=limit)
            self.assertTrue(status == 3 or FIRST_FIX in output, said)

    def test_without_a_home(self):
        done = subprocess.run([PROGRAM, "run.sqlite"], cwd=self.work, env={}, stdout=subprocess.PIPE, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn(FIRST_FIX.encode(), done.stdout)

    def test_a_working_directory_that_is_gone(self):
        gone = os.path.join(self.work, "gone")
        os.mkdir(gone)
        done = subprocess.run(
            ["/bin/sh", "-c", 'cd gone && rmdir ../gone && exec "$0" "$1"', PROGRAM, os.path.join(self.work, "run.sqlite")],
            cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
