"""Changes a copy of the source tree at random, and finds which changes the tests notice.

    mutate.py plan TREE COUNT SEED    puts COUNT mutants into TREE/engine/advice and TREE/engine/metrics, each asleep until
                                      ADVISE_MUTANT names it, and lists them in TREE/mutants.tsv
    mutate.py mend TREE < ERRORS      takes out those on lines that the compiler names; exit status 1 where there are none
    mutate.py run TREE COMMAND…       runs the test cases that reach it with each; a mutant that no command notices survives

A mutant is another comparison, + for - or * for /, a number that is one more, a condition turned round, or a statement
that is left out. Times begin a millisecond later: one nanosecond more is nothing that anybody sees.
"""

import collections
import concurrent.futures
import pathlib
import random
import re
import subprocess
import sys

ROOMS = ("engine/advice", "engine/metrics")
CPU_SECONDS = 120  # that the tests of a room may take: several times what they need
OPERATORS = {  # infix, and as what precedence wants it
    "<": ("<", "LessOrEqual", ">"),
    "<=": ("<", "LessOnly", ">"),
    ">": ("<", "MoreOrEqual", ">"),
    ">=": ("<", "MoreOnly", ">"),
    "==": ("==", "Differs", "=="),
    "!=": ("==", "Equals", "=="),
    "+": ("+", "Minus", "+"),
    "-": ("+", "Plus", "+"),
    "*": ("*", "Over", "*"),
    "/": ("*", "Times", "*"),
}
NUMBER = re.compile(r"(?<![\w.\"'])(\d+(?:\.\d+)?(?:e-?\d+)?)(?![\w.'\"])")
TIME = re.compile(r"^ +Nanos \w+ = \d+;")
STATEMENT = re.compile(r"^( +)((?!return|break|continue|using|for|if|while|else|case|const|auto|static|delete)[a-z][\w.\->\[\]]*"
                       r"(?:\([^;{}]*\)|(?: [-+|&]?= |\+\+)[^;{}]*)|continue|break);$")
CONDITION = re.compile(r"^( +)((?:\} else )?if \()([^;{}]*)(\)(?: \{| return.*;| continue;| break;)?)$")


def in_code(line, at):
    """Whether that place is neither in a text nor in a comment."""
    before = line[:at].replace('\\"', "")
    return before.count('"') % 2 == 0 and "//" not in before


def candidates(line):
    """(what, the line with {id} where the mutant's number goes), for each mutant that fits there."""
    def escaped(text):
        return text.replace("{", "{{").replace("}", "}}")

    if line.lstrip().startswith(("//", "#", "template", "static_assert", "case", "constexpr", "enum")):
        return
    for match in re.finditer(r" (<=?|>=?|==|!=|\+|-|\*|/) (?!\()", line):
        if not in_code(line, match.start()) or "operator" in line or "template" in line:
            continue
        left, name, right = OPERATORS[match[1]]
        yield (f"{match[1]} is {name}", escaped(line[: match.start()]) + f" {left} ::mutant::{name}<{{id}}>{{{{}}}} {right} "
               + escaped(line[match.end() :]))
    more, added = ("a millisecond", "1'000'000") if TIME.match(line) else ("one", "1")
    for match in NUMBER.finditer(line):
        if in_code(line, match.start()) and "constexpr" not in line and "<" + match[1] not in line:
            yield (f"{match[1]} is {more} more", escaped(line[: match.start()])
                   + f"(::mutant::Lives({{id}}) ? {match[1]} + {added} : {match[1]})" + escaped(line[match.end() :]))
    match = CONDITION.match(line)
    if match and match[3].count("(") == match[3].count(")") and " = " not in match[3]:
        yield ("the condition is turned round", escaped(match[1] + match[2]) + f"::mutant::Lives({{id}}) != bool({escaped(match[3])})"
               + escaped(match[4]))
    match = STATEMENT.match(line)
    if match and match[2].count("(") == match[2].count(")"):
        yield ("the statement is left out", f"{match[1]}if (!::mutant::Lives({{id}})) {escaped(match[2])};")


def plan(tree, count, seed):
    dice = random.Random(seed)
    places = []
    for room in ROOMS:
        for path in sorted((tree / room).rglob("*.cc")):
            lines = path.read_text().splitlines()
            for number, line in enumerate(lines):
                # A part of a longer statement is none.
                begins = number == 0 or not lines[number - 1].strip() or lines[number - 1].rstrip()[-1] in ";{}:"
                for what, text in candidates(line):
                    if begins or not what.startswith("the statement"):
                        places.append((str(path.relative_to(tree)), number, what, text))
    dice.shuffle(places)
    chosen = {}
    for place in places:  # one a line, so that an error names it
        if len(chosen) < count:
            chosen.setdefault(place[:2], place)
    texts = {}
    with open(tree / "mutants.tsv", "w", encoding="utf-8") as table:
        for number, (file, line, what, text) in enumerate(sorted(chosen.values()), 1):
            lines = texts.setdefault(file, (tree / file).read_text().splitlines())
            print(number, file, line + 1, what, lines[line].strip(), sep="\t", file=table)
            (tree / "mutants" / str(number)).parent.mkdir(exist_ok=True)
            (tree / "mutants" / str(number)).write_text(lines[line])
            lines[line] = text.format(id=number)
    with open(tree / "tests/support/main.cc", "a", encoding="utf-8") as main_file:
        main_file.write('#include "tests/mutation/reached.h"\n')
    for file, lines in texts.items():
        (tree / file).write_text('#include "tests/mutation/mutant.h"  // NOLINT\n#line 1\n' + "\n".join(lines) + "\n")


def mutants(tree):
    for line in (tree / "mutants.tsv").read_text().splitlines():
        number, file, at, what, text = line.split("\t")
        yield int(number), file, int(at), what, text


def mend(tree, errors):
    named = set()
    for file, line in re.findall(r"(engine/(?:advice|metrics)/[\w/]+\.cc):(\d+)", errors):
        named.add((file, int(line)))
    left = []
    removed = 0
    for number, file, at, what, text in mutants(tree):
        if (file, at) in named:
            lines = (tree / file).read_text().splitlines()
            lines[at + 1] = (tree / "mutants" / str(number)).read_text()
            (tree / file).write_text("\n".join(lines) + "\n")
            removed += 1
        else:
            left.append(f"{number}\t{file}\t{at}\t{what}\t{text}\n")
    (tree / "mutants.tsv").write_text("".join(left))
    print(f"{removed} mutants do not compile", file=sys.stderr)
    return removed > 0


def passes(command, tree, **variables):
    # Of the processor, not of the clock: a busy machine makes no mutant noticed, and no endless loop stays behind.
    limited = f"ulimit -t {CPU_SECONDS}; {command}"
    return subprocess.run(limited, shell=True, cwd=tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env={"PATH": "/usr/bin:/bin", **variables}).returncode == 0


def tests_by_mutant(tree, command, table):
    """Runs the tests without a mutant; returns which test cases reach each, or None where the command does not tell."""
    table.unlink(missing_ok=True)
    if not passes(command, tree, ADVISE_MUTANTS_REACHED=str(table)):
        sys.exit(f"mutate.py: without a mutant, this fails: {command}")
    if not table.exists():
        return None
    reach = collections.defaultdict(list)
    for line in table.read_text().splitlines():
        name, numbers = line.split("\t")
        for number in numbers.split():
            reach[int(number)].append(name)
    return reach


def noticed(number, tree, commands):
    for command, reach in commands:
        if reach is not None:
            if number not in reach:
                continue
            names = tree / "mutants" / f"{number}.tests"
            # Catch2 takes a comma for the end of a name, and passes where it finds no such test.
            names.write_text("".join(name.replace(",", "\\,") + "\n" for name in reach[number]))
            command = f"{command} -f {names}"
        if not passes(command, tree, ADVISE_MUTANT=str(number)):
            return True
    return False


def run(tree, commands):
    asked = [(command, tests_by_mutant(tree, command, tree / "reached.tsv")) for command in commands]
    count = survivors = 0
    listed = list(mutants(tree))
    random.Random(1).shuffle(listed)  # those tried so far are a fair sample, also when it is stopped
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for mutant, seen in zip(listed, pool.map(lambda one: noticed(one[0], tree, asked), listed)):
            count += 1
            if not seen:
                survivors += 1
                print("{1}:{2}: {3}: {4}".format(*mutant), flush=True)
            print(f"\r{count} of {len(listed)}, {survivors} survive ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"{count} mutants, {count - survivors} noticed ({100 * (count - survivors) / count:.0f} %)")


def main():
    tree = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "plan":
        plan(tree, int(sys.argv[3]), int(sys.argv[4]))
    elif sys.argv[1] == "mend":
        sys.exit(0 if mend(tree, sys.stdin.read()) else 1)
    else:
        run(tree, sys.argv[3:])


main()
