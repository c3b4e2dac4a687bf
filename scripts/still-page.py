#!/usr/bin/env python3
"""Makes a still page of an HTML report, on stdout: what its scripts draw stays, scripts and what only they can do go.

    still-page.py REPORT.html BROWSER      BROWSER: a Chromium
"""

import pathlib
import re
import subprocess
import sys
import tempfile


def drawn(report: str, browser: str) -> str:
    """The page as the browser has it once its scripts have run."""
    with tempfile.TemporaryDirectory() as home:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        command += ["--user-data-dir=" + home, "--virtual-time-budget=10000", "--window-size=1100,1330", "--dump-dom"]
        command.append(pathlib.Path(report).resolve().as_uri())
        done = subprocess.run(command, capture_output=True, check=True, timeout=120, env={"HOME": home, "PATH": "/usr/bin:/bin"})
    return done.stdout.decode()


def still(page: str) -> str:
    """Without scripts, fields and buttons; headings of tables stay as text."""
    for gone in ("script", "noscript", "form"):
        page = re.sub(rf"<{gone}\b.*?</{gone}>", "", page, flags=re.DOTALL)
    page = re.sub(r"(<th\b[^>]*>)<button\b[^>]*>(.*?)</button>", r"\1\2", page, flags=re.DOTALL)
    page = re.sub(r"<button\b.*?</button>", "", page, flags=re.DOTALL)
    page = re.sub(r"<label\b[^>]*>[^<]*</label>\s*<input\b[^>]*>", "", page)
    page = re.sub(r"<label\b[^>]*>[^<]*<input\b[^>]*></label>", "", page)
    # Pictures keep their shape on narrower screens: nothing draws them again.
    page = re.sub(r'(<svg\b[^>]*?) height="[0-9.]+"', r"\1", page)
    page = re.sub(r"[ \t]+\n", "\n", page)
    return re.sub(r"\n{2,}", "\n", page).strip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(still(drawn(*sys.argv[1:])))
