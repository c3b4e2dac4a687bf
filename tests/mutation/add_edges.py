"""Writes what find_edges printed into the tests of the rules.

    find_edges | add_edges.py        in the root of the source tree
"""

import collections
import re
import sys


def number(text):
    """As a person writes it: 2.5e+07 is 2.5e7, 1e+00 is 1."""
    value = float(text)
    if 0.001 <= abs(value) < 100000:
        return "%.10g" % value
    return re.sub(r"e\+?(-?)0*", r"e\1", "%.3g" % value)


def with_edges(text, test, places):
    """The rule's text with these edges in front of the facts of that test, and those that it has."""
    begin = text.index('{ name = "%s",' % test) + len('{ name = "%s",' % test)
    there = re.match(r"\n      edges = \{ (.*?) \},(?=\n|\s)", text[begin:])
    if there:
        for place, values in re.findall(r'\["([^"]+)"\] = (\{[^}]*\}|[^,{}]+)', there[1]):
            places[place] = re.findall(r"[-+.0-9e]+", values) + places.get(place, [])
        text = text[:begin] + text[begin + there.end() :]
    parts = []
    for place, values in sorted(places.items()):
        numbers = [number(value) for value in sorted(set(values), key=float)]
        parts.append('["%s"] = %s' % (place, numbers[0] if len(numbers) == 1 else "{ %s }" % ", ".join(numbers)))
    return "%s\n      edges = { %s },%s" % (text[:begin], ", ".join(parts), text[begin:])


def main():
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in sys.stdin:
        fields = line.rstrip("\n").split("\t")
        if fields[0] == "edge":
            found[fields[1], fields[2]][fields[3]].append(fields[4])
        else:
            print(line, end="")
    for (path, test), places in found.items():
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(with_edges(text, test, dict(places)))


if __name__ == "__main__":
    main()
