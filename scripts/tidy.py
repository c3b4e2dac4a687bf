"""Runs clang-tidy on files together: nine tenths of its time go into headers, which it then reads once for all.

    tidy.py [--jobs N] [--list] [PATH…]    in the root of the source tree, with build/tidy/compile_commands.json

The texts of up to BATCH files of one folder, with one set of flags, become one file in build/tidy/batches: files of a room
can be compiled together (ADVISE_TOGETHER). build/tidy/clean.txt holds a hash for each file in which nothing was found: of
its text, of each header of the project that it includes, of its flags and of the settings.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path.cwd()
BUILD = ROOT / "build/tidy"
CLEAN = BUILD / "clean.txt"
BATCH = 16
# The analyzer of paths would take five times as long, without having found more here.
SHALLOW = ["-Xclang", "-analyzer-config", "-Xclang", "mode=shallow"]
INCLUDE = re.compile(r'^ *# *include +(?:"([^"]+)"|<[^>]+>)', re.MULTILINE)
FOUND = re.compile(r"^(/[^:\n]+):(\d+):(\d+): (warning|error): (.*)$", re.MULTILINE)
PLACE = re.compile(r"^(/[^:\n]+):(\d+):(\d+): ", re.MULTILINE)


class Sources:
    """Files of the project, and what they include."""

    def __init__(self):
        self.included = {}
        self.hashes = {}
        settings = [(ROOT / name).read_bytes() for name in (".clang-tidy", "tests/.clang-tidy")]
        settings.append(subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout)
        self.settings = hashlib.sha256(b"\0".join(settings)).hexdigest()

    def headers(self, path):
        """Those that this file names, as far as they are the project's own."""
        if path not in self.included:
            text = path.read_text()
            self.hashes[path] = hashlib.sha256(text.encode()).hexdigest()
            places = [[folder / name for folder in (path.parent, ROOT, ROOT / "fixtures/simulator")]
                      for name in INCLUDE.findall(text) if name]
            self.included[path] = [next(place for place in ways if place.exists()) for ways in places
                                   if any(place.exists() for place in ways)]
        return self.included[path]

    def all_headers(self, path):
        seen = {path}
        open_ones = [path]
        while open_ones:
            for header in self.headers(open_ones.pop()):
                if header not in seen:
                    seen.add(header)
                    open_ones.append(header)
        return seen

    def key(self, path, flags):
        hashes = [str(path.relative_to(ROOT)), flags, self.settings]
        hashes += [self.hashes[header] for header in sorted(self.all_headers(path))]
        return hashlib.sha256("\0".join(hashes).encode()).hexdigest()


def compiled():
    """Each file of the project that the build compiles, with its flags."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build"):
            yield path, re.sub(r"^\S+ | -o \S+| -c \S+$", "", entry["command"])


def written_together(paths, to):
    """Writes the texts one after the other; returns (first line, path) of each. An #include that stood in a former one becomes
    an empty line."""
    lines = []
    begins = []
    before = set()
    for path in paths:
        begins.append((len(lines) + 1, path))
        here = set()
        for line in path.read_text().splitlines():
            include = INCLUDE.match(line)
            if include and include[0] in before:
                line = ""
            elif include:
                here.add(include[0])
            lines.append(line)
        before |= here
    to.write_text("\n".join(lines) + "\n")
    return begins


def check(name, paths, flags):
    """Runs clang-tidy; returns (what it says, in places of the sources; the files in which it found something)."""
    folder = BUILD / "batches" / paths[0].relative_to(ROOT).parts[0]
    batch = folder / f"{name}.cc"
    begins = written_together(paths, batch)

    def at_source(match):
        if match[1] != str(batch):
            return match[0]
        first, path = [begin for begin in begins if begin[0] <= int(match[2])][-1]
        return f"{path.relative_to(ROOT)}:{int(match[2]) - first + 1}:{match[3]}: "

    # Relative paths of #include lead from the source's folder.
    command = ["clang-tidy", "--quiet", str(batch), "--", *shlex.split(flags), "-iquote", str(paths[0].parent), *SHALLOW]
    done = subprocess.run(command, capture_output=True, text=True, cwd=BUILD)
    if "clang-diagnostic-error" in done.stdout and len(paths) > 1:
        half = len(paths) // 2
        parts = [check(f"{name}.{i}", part, flags) for i, part in enumerate((paths[:half], paths[half:]))]
        return "".join(said for said, _ in parts), set().union(*(found for _, found in parts))
    said = PLACE.sub(at_source, done.stdout)
    found = set()
    for match in FOUND.finditer(done.stdout):
        if match[1] == str(batch):
            found.add([path for first, path in begins if first <= int(match[2])][-1])
        else:
            found.add(pathlib.Path(match[1]))
    if done.returncode != 0 and not found:
        sys.exit(f"tidy.py: clang-tidy failed on {batch}:\n{done.stdout}{done.stderr}")
    return said, found


def batches(files, jobs):
    """(paths, flags) of those that are checked together: of one folder below engine, fixtures or tests."""
    groups = collections.defaultdict(list)
    for path, flags in files:
        groups[path.relative_to(ROOT).parts[:2], flags].append(path)
    made = []
    for (_, flags), paths in groups.items():
        count = -(-len(paths) // BATCH)
        size = -(-len(paths) // count)
        made += [(paths[i : i + size], flags) for i in range(0, len(paths), size)]
    return sorted(made, key=lambda batch: -len(batch[0]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("paths", nargs="*", default=["engine"], type=pathlib.Path)
    options = parser.parse_args()

    wanted = [(ROOT / path).resolve() for path in options.paths]
    sources = Sources()
    clean = set(CLEAN.read_text().split()) if CLEAN.exists() else set()
    keys = {}
    files = []
    for path, flags in sorted(compiled()):
        if not any(path.is_relative_to(place) for place in wanted):
            continue
        key = sources.key(path, flags)
        if path not in keys and key not in clean:
            files.append((path, flags))
        keys[path] = key
    if not keys:
        sys.exit("tidy.py: the build compiles no such file")
    if options.list:
        print("".join(f"{path.relative_to(ROOT)}\n" for path, _ in files), end="")
        return

    shutil.rmtree(BUILD / "batches", ignore_errors=True)
    for folder in ("cmake", "engine", "fixtures", "tests"):
        (BUILD / "batches" / folder).mkdir(parents=True)
    shutil.copy(ROOT / "tests/.clang-tidy", BUILD / "batches/tests")
    said = {}
    count = 0
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(check, str(i), *batch): batch[0] for i, batch in enumerate(batches(files, options.jobs))}
        for done in concurrent.futures.as_completed(running):
            paths = running[done]
            text, found = done.result()
            count += len(paths)
            print(f"tidy.py: {count} of {len(files)} files, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
            with open(CLEAN, "a", encoding="utf-8") as table:
                for path in paths:
                    if not found & sources.all_headers(path):
                        table.write(keys[path] + "\n")
            if found and text not in said:
                said[text] = True
                print(text, end="", flush=True)
    if said:
        sys.exit(1)
    print(f"tidy.py: clang-tidy finds nothing in {len(keys)} files; {len(files)} of them were checked now")


main()
