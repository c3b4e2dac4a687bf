"""Reports as objects, against what the program says itself."""

import ast
import glob
import json
import os
import subprocess
import sys
import unittest

import advise
from support import DEMO, InFolder, environment


class ReportTest(InFolder):
    def test_objects_are_what_the_program_says(self):
        report = advise.read(DEMO)
        said = json.loads(subprocess.check_output([advise.program_path(), DEMO, "--format", "json", "--facts"]))
        self.assertEqual(report.verdict, said["verdict"])
        self.assertEqual([item.rule for item in report.findings], [item["rule"] for item in said["findings"]])
        first, truth = report.findings[0], said["findings"][0]
        self.assertEqual(first.rule, "input/no-workers")
        self.assertEqual(first.saving.share, truth["saving"]["share"])
        self.assertEqual(first.fixes[0].snippet, truth["fixes"][0]["snippet"])
        self.assertEqual(first.fixes[0].audience, tuple(truth["fixes"][0]["for"]))
        self.assertEqual(first.evidence[0].sql, truth["evidence"][0]["sql"])
        self.assertEqual((report.run.kind, report.run.unit), ("training", "step"))
        self.assertEqual(report.window.seconds, said["window"]["seconds"])
        self.assertEqual(report.plan[0].rule, said["plan"][0]["rule"])
        self.assertEqual(report.facts["window.time"], said["facts"]["window.time"]["value"])
        self.assertEqual(report.facts.unit("window.time"), "ns")
        self.assertEqual(len(report.facts), len(said["facts"]))
        self.assertEqual(len(report.not_checked), len(said["not_checked"]))
        self.assertEqual(report.inputs[0].kind, "nsys-sqlite")

    def test_the_budget_adds_up(self):
        report = advise.read(DEMO)
        budget = report.budget
        parts = ("compute", "comm_exposed", "copy_exposed", "memset_exposed", "idle")
        self.assertAlmostEqual(sum(budget.share(part) for part in parts), 1)
        self.assertEqual(sum(budget.idle_causes_ns.values()), budget.idle_ns)
        self.assertEqual(budget.window_ns, sum(device.budget.window_ns for device in report.devices))

    def test_texts_and_pages(self):
        report = advise.read(DEMO)
        self.assertEqual(str(report), subprocess.check_output([advise.program_path(), DEMO]).decode())
        self.assertIn("it compared", report.why("input/no-workers"))
        self.assertIn("Load data in worker processes", str(report.findings))
        page = report._repr_html_()
        self.assertIn("Load data in worker processes", page)
        self.assertIn("DataLoader(dataset", page)
        self.assertNotIn("std::thread", page)  # of a fix for another language
        self.assertNotIn("<script", page)
        self.assertIn("window.time", report.facts._repr_html_())
        self.assertIn("<details", report.findings._repr_html_())
        first = report.findings[0]._repr_html_()
        self.assertIn("<details open", first)
        self.assertNotIn("std::thread", first)
        self.assertTrue(report.findings[0].fixes[0].fits)
        self.assertRegex(page, "Fixed in this order: [0-9.]+\u00a0ms per step → [0-9.]+\u00a0ms")
        self.assertIn("; then {} is the limit".format(report.plan[-1].next_bound.replace("'", "&#x27;")), page)
        for name, beginning in (("a.html", "<!"), ("a.json", "{"), ("a.md", "#"), ("a.txt", DEMO[:8]), ("a.sarif", "{")):
            report.save(name)
            with open(name, encoding="utf-8") as file:
                self.assertTrue(file.read().lstrip().startswith(beginning), name)

    def test_what_a_finding_explains_is_not_shown_beside_it(self):
        report = advise.read(DEMO)
        report.json["findings"][1]["explained_by"] = [report.findings[0].rule]
        self.assertIn(report.findings[0].title, report._repr_html_())
        self.assertIn(report.findings[1].title, report._repr_html_())     # its own saving is in the plan
        report.json["findings"][1]["saving"]["seconds"] = 0
        self.assertNotIn(report.findings[1].title, report._repr_html_())

    def test_text_of_a_trace_is_no_html(self):
        report = advise.read(DEMO)
        report.json["verdict"] = report.json["findings"][0]["title"] = "<script>alert(1)</script>"
        report.json["inputs"][0]["path"] = "<b>"
        self.assertNotIn("<script>", report._repr_html_())
        self.assertNotIn("<b></p>", report._repr_html_())

    def test_fields_of_newer_programs_do_no_harm(self):
        report = advise.read(DEMO)
        report.json["run"]["new"] = report.json["findings"][0]["new"] = 1
        report.json["devices"][0]["budget"]["new_ns"] = 1
        self.assertTrue(report.run and report.findings and report.budget and report.devices)

    def test_facts_are_read_by_people_and_programs(self):
        facts = advise.read(DEMO).facts
        page = facts._repr_html_()
        self.assertIn("<td>window.time</td><td>1.19\u00a0s</td>", page)
        self.assertIn("<td>run.trains</td><td>yes</td>", page)
        self.assertIn("<td>steps.count</td><td>15</td>", page)
        self.assertNotIn("1186918633", page)
        with self.assertRaisesRegex(KeyError, "did you mean budget.idle"):
            print(facts["budget.idel"])
        self.assertIsNone(facts.get("budget.idel"))
        self.assertNotIn("budget.idel", facts)

    def test_options_reach_the_program(self):
        report = advise.read(DEMO, options=["--only", "transfer"])
        self.assertTrue(report.findings)
        self.assertTrue(all(item.rule.startswith("transfer/") for item in report.findings))

    def test_a_report_is_found_after_the_program_changed_its_folder(self):
        os.symlink(DEMO, "here.sqlite")
        report = advise.read("here.sqlite")
        os.chdir("/")
        self.assertIn("here.sqlite", str(report))

    def test_errors_say_what_is_wrong(self):
        with self.assertRaisesRegex(advise.AdviseError, "^nowhere.sqlite: no such file") as caught:
            advise.read("nowhere.sqlite")
        self.assertEqual(caught.exception.status, 3)
        with self.assertRaises(TypeError):
            advise.read()

    def test_where_the_program_is_looked_for(self):
        program = advise.program_path()
        with environment(ADVISE_PROGRAM="/nowhere/advise"):
            with self.assertRaisesRegex(advise.AdviseError, "ADVISE_PROGRAM names no program"):
                advise.program_path()
        with environment(ADVISE_PROGRAM=program):
            self.assertEqual(advise.program_path(), program)

    def test_version(self):
        self.assertRegex(advise.version(), r"^\d+\.\d+\.\d+$")


class PackageTest(unittest.TestCase):
    def test_importing_it_imports_nothing_else(self):
        code = "import sys; before = set(sys.modules); import advise; print(*sorted(set(sys.modules) - before))"
        names = subprocess.check_output([sys.executable, "-c", code]).decode().split()
        standard = getattr(sys, "stdlib_module_names", None)
        if standard is None:
            self.skipTest("this Python does not list its own modules")
        self.assertEqual([name for name in names if name.split(".")[0] not in standard | {"advise"}], [])

    def test_it_suits_python_3_8(self):
        for path in glob.glob(os.path.join(os.path.dirname(advise.__file__), "*.py")):
            with open(path, encoding="utf-8") as file:
                ast.parse(file.read(), path, feature_version=(3, 8))

    def test_everything_public_has_a_docstring(self):
        for name in advise.__all__:
            self.assertTrue(getattr(advise, name).__doc__, name)

    def test_the_module_is_the_program(self):
        said = subprocess.check_output([sys.executable, "-m", "advise", "--version"]).decode()
        self.assertEqual(said, "advise {}\n".format(advise.version()))


if __name__ == "__main__":
    unittest.main()
