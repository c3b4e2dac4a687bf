#!/usr/bin/python3
"""Adds up gcov's counters of a build folder, as a table of lines by room of engine/: coverage_table.py FOLDER.
A line that several objects hold (headers, templates) was run when one of them ran it."""
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1]).resolve()
source = pathlib.Path.cwd().resolve()


def lines_of(counters):
    said = subprocess.run(["gcov", "--json-format", "--stdout", counters.name], cwd=counters.parent, check=True,
                          stdout=subprocess.PIPE).stdout
    for text in said.splitlines():
        for file in json.loads(text)["files"]:
            path = pathlib.Path(folder, file["file"]).resolve()
            if path.is_relative_to(source / "engine"):
                for line in file["lines"]:
                    yield str(path.relative_to(source)), line["line_number"], line["count"] > 0


# Objects that no test ran have no counters, but lines.
objects = sorted(path for path in folder.rglob("*.gcno"))
ran = collections.defaultdict(dict)
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for lines in pool.map(lambda path: list(lines_of(path)), objects):
        for file, line, was_run in lines:
            ran[file][line] = ran[file].get(line, False) or was_run

rooms = collections.defaultdict(lambda: [0, 0])
with open(folder / "missed.txt", "w", encoding="utf-8") as missed:
    for file, lines in sorted(ran.items()):
        for room in (file.split("/")[1], "all"):
            rooms[room][0] += len(lines)
            rooms[room][1] += sum(lines.values())
        for line, was_run in sorted(lines.items()):
            if not was_run:
                print(f"{file}:{line}", file=missed)

print("| Room | Lines | Run by tests |")
print("| --- | ---: | ---: |")
for room, (count, run) in sorted(rooms.items(), key=lambda item: (item[0] == "all", item[0])):
    print(f"| {room} | {count:,} | {100 * run / count:.1f} % |")
