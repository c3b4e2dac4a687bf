"""Runs the steps of action.yml and of the GitLab template, as their shells would, against stand-ins of gh, curl and the cache.

    ci_test.py ADVISE ADVISE-SIM
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

PROGRAM, SIMULATE = (os.path.realpath(path) for path in sys.argv[1:3])
ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
SCENARIO = os.path.join(ROOT, "fixtures/scenarios/pairs/loading-over-pageable.toml")

# Keep comments in comments.json, as the services would.
STAND_INS = {
    "gh": """
import json, os, subprocess, sys
words = sys.argv[1:]
assert words.pop(0) == "api" and os.environ["GH_TOKEN"] == "secret"
comments = json.load(open(os.environ["COMMENTS"]))
if "--paginate" in words:
    mark = os.environ["MARK"]
    assert words[words.index("--jq") + 1] == ".[] | select(.body | startswith(env.MARK)) | .id"
    for comment in comments:
        if comment["body"].startswith(mark):
            print(comment["id"])
    sys.exit()
body = next(word for word in words if word.startswith("body=@"))
text = open(body[len("body=@"):]).read()
if "PATCH" in words:
    place = next(word for word in words if word.startswith("repos/"))
    next(c for c in comments if place == "repos/o/r/issues/comments/%d" % c["id"])["body"] = text
else:
    assert "repos/o/r/issues/7/comments" in words
    comments.append({"id": 100 + len(comments), "body": text})
json.dump(comments, open(os.environ["COMMENTS"], "w"))
""",
    "curl": """
import json, os, shutil, sys
words = sys.argv[1:]
url = words[-1]
if "/jobs/artifacts/" in url:
    assert "JOB-TOKEN: job" in words and url.endswith("/jobs/artifacts/main/raw/advise-report/run.facts?job=gpu%20run"), url
    if not os.path.exists(os.environ["BASE"]):
        sys.exit(22)
    shutil.copyfile(os.environ["BASE"], words[words.index("--output") + 1])
    sys.exit()
assert "PRIVATE-TOKEN: secret" in words
comments = json.load(open(os.environ["COMMENTS"]))
notes = "https://gitlab/api/v4/projects/3/merge_requests/7/notes"
if "--form" not in words:
    assert url == notes + "?per_page=100"
    print(json.dumps([dict(id=c["id"], type=None, body=c["body"], author={"id": 1}) for c in comments],
                     separators=(",", ":")).replace("<", "\\\\u003c"))
    sys.exit()
text = open(words[words.index("--form") + 1][len("body=<"):]).read()
method = words[words.index("--request") + 1]
if method == "PUT":
    next(c for c in comments if url == "%s/%d" % (notes, c["id"]))["body"] = text
else:
    assert method == "POST" and url == notes
    comments.append({"id": 100 + len(comments), "body": text})
json.dump(comments, open(os.environ["COMMENTS"], "w"))
""",
}


def check_sarif(path):
    """What GitHub demands of results, or it refuses the file."""
    with open(path, encoding="utf-8") as file:
        log = json.load(file)
    assert log["version"] == "2.1.0" and "sarif-schema-2.1.0" in log["$schema"]
    (run,) = log["runs"]
    assert run["tool"]["driver"]["name"] == "advise" and run["results"]
    for rule in run["tool"]["driver"]["rules"]:
        for words in (rule["shortDescription"]["text"], rule["fullDescription"]["text"]):
            assert 0 < len(words) <= 1024, rule["id"]
        assert rule["help"]["text"], rule["id"]
    for result in run["results"]:
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] and place["region"]["startLine"] >= 1
        assert result["message"]["text"] and result["partialFingerprints"]["primaryLocationLineHash"]
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


class Service(unittest.TestCase):
    """A folder with two runs of the same work, one with faults; the program and the stand-ins on PATH."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.bin = os.path.join(cls.place.name, "bin")
        os.mkdir(cls.bin)
        os.symlink(PROGRAM, os.path.join(cls.bin, "advise"))
        for name, code in STAND_INS.items():
            path = os.path.join(cls.bin, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/usr/bin/python3\n" + code.lstrip())
            os.chmod(path, 0o755)
        for name, more in (("slow", []), ("fast", ["--without", "all"])):
            path = os.path.join(cls.place.name, name + ".sqlite")
            subprocess.run([SIMULATE, SCENARIO, "-o", path, *more], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def setUp(self):
        self.work = tempfile.mkdtemp(dir=self.place.name)
        self.comments = os.path.join(self.work, "comments.json")
        with open(self.comments, "w", encoding="utf-8") as file:
            json.dump([{"id": 5, "body": "what somebody says of <!-- advise: run -->"}], file)
        self.environment = {
            "PATH": self.bin + ":/usr/bin:/bin",
            "COMMENTS": self.comments,
            "BASE": os.path.join(self.work, "kept.facts"),
        }

    def use(self, name):
        """The report of the run is this one."""
        shutil.copyfile(os.path.join(self.place.name, name + ".sqlite"), os.path.join(self.work, "run 1.sqlite"))

    def own_comments(self):
        with open(self.comments, encoding="utf-8") as file:
            return [comment["body"] for comment in json.load(file)[1:]]

    def shell(self, shell, script, **more):
        done = subprocess.run(
            [*shell, script], cwd=self.work, env={**self.environment, **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return done.returncode, done.stdout.decode()

    def check_shell(self, dialect, script):
        if shutil.which("shellcheck"):
            done = subprocess.run(["shellcheck", "-s", dialect, "-"], input=script.encode(), stdout=subprocess.PIPE)
            self.assertEqual(done.returncode, 0, done.stdout.decode())


class ActionTest(Service):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(os.path.join(ROOT, "action.yml"), encoding="utf-8") as file:
            cls.action = yaml.safe_load(file)

    def setUp(self):
        super().setUp()
        self.cache = {}

    def value(self, expression, context):
        """Of an expression of GitHub: names, texts, ==, !=, &&."""
        code = re.sub(r"[a-z_]+(\.[\w-]+)+", lambda name: repr(str(self.find(name[0], context))), expression.replace("&&", "and"))
        return eval(code, {})  # of our own file

    @staticmethod
    def find(name, context):
        found = context
        for part in name.split("."):
            found = found.get(part, "") if isinstance(found, dict) else ""
        return found

    def filled(self, text, context):
        return re.sub(r"\$\{\{ (.+?) \}\}", lambda match: str(self.value(match[1], context)), str(text))

    def run_action(self, event, **inputs):
        """The exit status of the last step that ran, and all that was printed."""
        context = {
            "inputs": {name: item.get("default", "") for name, item in self.action["inputs"].items()},
            "github": {"event_name": event, "repository": "o/r", "ref_name": "main", "run_id": 1, "run_attempt": 1},
            "steps": {},
        }
        context["github"]["event"] = {"repository": {"default_branch": "main"}, "pull_request": {"number": 7}}
        context["inputs"].update({"report": "run 1.sqlite", "token": "secret"}, **inputs)
        printed, self.uploaded = "", []
        for step in self.action["runs"]["steps"]:
            if "if" in step and not self.value(step["if"], context):
                continue
            if "uses" in step:
                self.use_action(step["uses"].split("@")[0], {k: self.filled(v, context) for k, v in step["with"].items()})
                continue
            self.assertNotIn("${{", step["run"])
            self.assertEqual(step["shell"], "bash")
            with open(os.path.join(self.work, "output"), "w"), open(os.path.join(self.work, "summary"), "a"):
                pass
            more = {name: self.filled(text, context) for name, text in step.get("env", {}).items()}
            status, said = self.shell(
                ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c"],
                step["run"],
                GITHUB_OUTPUT=os.path.join(self.work, "output"),
                GITHUB_STEP_SUMMARY=os.path.join(self.work, "summary"),
                **more
            )
            printed += said
            with open(os.path.join(self.work, "output"), encoding="utf-8") as file:
                outputs = dict(line.rstrip("\n").split("=", 1) for line in file)
            if "id" in step:
                context["steps"][step["id"]] = {"outputs": outputs, "outcome": "failure" if status else "success"}
            if status:
                return status, printed
        return 0, printed

    def use_action(self, name, given):
        path = os.path.join(self.work, given.get("path", ""))
        if name == "actions/cache/save":
            self.cache[given["key"]] = os.path.join(self.place.name, "cache-{}".format(len(self.cache)))
            shutil.copytree(path, self.cache[given["key"]], dirs_exist_ok=True)
        elif name == "actions/cache/restore":
            for key in sorted(self.cache, reverse=True):
                if key.startswith(given["restore-keys"]):
                    shutil.copytree(self.cache[key], path, dirs_exist_ok=True)
                    break
        else:
            self.assertEqual(name, "github/codeql-action/upload-sarif")
            check_sarif(os.path.join(self.work, given["sarif_file"]))
            self.uploaded.append(given["category"])

    def test_a_pull_request_that_makes_a_step_slower(self):
        self.use("fast")
        self.assertEqual(self.run_action("push")[0], 0)
        self.assertEqual(len(self.cache), 1)
        self.assertEqual(self.own_comments(), [])
        self.use("slow")
        status, said = self.run_action("pull_request")
        self.assertEqual(status, 1, said)
        self.assertRegex(said, "::error::.*AFTER takes .* longer, more than 3 %")
        self.assertEqual(len(self.cache), 1)
        self.assertEqual(self.uploaded, ["advise/run"])
        (comment,) = self.own_comments()
        self.assertTrue(comment.startswith("<!-- advise: run -->\n"))
        self.assertIn("**New**", comment)
        self.assertIn("Load data in worker processes", comment)
        with open(os.path.join(self.work, "summary"), encoding="utf-8") as file:
            self.assertIn("Load data in worker processes", file.read())
        # The next push mends it: the same comment says so.
        self.use("fast")
        status, said = self.run_action("pull_request")
        self.assertEqual(status, 0, said)
        (comment,) = self.own_comments()
        self.assertIn("No change beyond noise", comment)

    def test_what_is_switched_off_does_not_happen(self):
        self.use("fast")
        self.run_action("push")
        self.use("slow")
        status, said = self.run_action("pull_request", slower="", comment="false", sarif="false")
        self.assertEqual((status, self.own_comments(), self.uploaded), (0, [], []), said)

    def test_without_a_run_of_the_default_branch(self):
        self.use("slow")
        self.assertEqual(self.run_action("pull_request")[0], 0)
        self.assertIn("no run to compare with", self.own_comments()[0])

    def test_a_level_fails(self):
        self.use("slow")
        self.assertEqual(self.run_action("push", **{"fail-on": "high"})[0], 1)
        self.assertEqual(len(self.cache), 1)  # what is on the default branch is what others are compared with

    def test_inputs_are_no_commands(self):
        self.use("slow")
        evil = '$(touch pwned); "`touch pwned`"'
        for name in ("report", "options", "program"):
            self.assertNotEqual(self.run_action("push", **{name: evil})[0], 0)
        self.assertFalse(os.path.exists(os.path.join(self.work, "pwned")))

    def test_the_scripts_pass_shellcheck(self):
        for step in self.action["runs"]["steps"]:
            if "run" in step:
                self.check_shell("bash", step["run"])


class PageTest(unittest.TestCase):
    """What docs/howto/ci.md shows fits the files."""

    def test_examples_name_what_there_is(self):
        with open(os.path.join(ROOT, "docs/howto/ci.md"), encoding="utf-8") as file:
            workflow, template = (yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", file.read(), re.DOTALL))
        with open(os.path.join(ROOT, "action.yml"), encoding="utf-8") as file:
            inputs = yaml.safe_load(file)["inputs"]
        (step,) = (step for job in workflow["jobs"].values() for step in job["steps"] if step.get("name") == "What to fix")
        self.assertLessEqual(set(step["with"]), set(inputs))
        self.assertIn("report", step["with"])
        with open(os.path.join(ROOT, "packaging/gitlab/advise.gitlab-ci.yml"), encoding="utf-8") as file:
            job = yaml.safe_load(file)[".advise"]
        self.assertEqual(template["advise"]["extends"], ".advise")
        self.assertLessEqual(set(template["advise"]["variables"]), set(job["variables"]))


class GitLabTest(Service):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(os.path.join(ROOT, "packaging/gitlab/advise.gitlab-ci.yml"), encoding="utf-8") as file:
            cls.job = yaml.safe_load(file)[".advise"]

    def run_job(self, merge_request, **more):
        variables = {name: str(value) for name, value in self.job["variables"].items()}
        variables.update(
            ADVISE_REPORT="run 1.sqlite",
            CI_API_V4_URL="https://gitlab/api/v4",
            CI_PROJECT_ID="3",
            CI_JOB_NAME="gpu run",
            CI_JOB_TOKEN="job",
            CI_DEFAULT_BRANCH="main",
            ADVISE_TOKEN="secret",
        )
        if merge_request:
            variables["CI_MERGE_REQUEST_IID"] = "7"
        variables.update(more)
        # As the runner does: one shell for all lines of the script, which ends at the first that fails.
        return self.shell(["sh", "-e", "-c"], "\n".join(self.job["script"]), **variables)

    def keep(self):
        shutil.copyfile(os.path.join(self.work, "advise-report/run.facts"), self.environment["BASE"])

    def test_a_merge_request_that_makes_a_step_slower(self):
        self.use("fast")
        status, said = self.run_job(False)
        self.assertEqual(status, 0, said)
        self.assertEqual(self.own_comments(), [])
        self.keep()
        self.use("slow")
        status, said = self.run_job(True)
        self.assertEqual(status, 1, said)
        self.assertRegex(said, "AFTER takes .* longer, more than 3 %")
        (comment,) = self.own_comments()
        self.assertTrue(comment.startswith("<!-- advise: gpu run -->\n"))
        self.assertIn("**New**", comment)
        check_sarif(os.path.join(self.work, "advise-report/report.sarif"))
        self.use("fast")
        status, said = self.run_job(True)
        self.assertEqual(status, 0, said)
        (comment,) = self.own_comments()
        self.assertIn("No change beyond noise", comment)

    def test_without_a_run_of_the_default_branch_or_a_token(self):
        self.use("slow")
        status, said = self.run_job(True, ADVISE_TOKEN="")
        self.assertEqual(status, 0, said)
        self.assertEqual(self.own_comments(), [])
        self.assertIn("main has no run to compare with", said)

    def test_a_level_fails(self):
        self.use("slow")
        self.assertEqual(self.run_job(False, ADVISE_FAIL_ON="high")[0], 1)

    def test_reports_are_kept(self):
        self.assertEqual(self.job["artifacts"], {"when": "always", "paths": ["advise-report/"]})

    def test_the_scripts_pass_shellcheck(self):
        for script in self.job["script"]:
            self.check_shell("sh", script)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
