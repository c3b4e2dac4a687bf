#!/usr/bin/env python3
"""Draws what a command prints to a terminal as SVG, on stdout.

    terminal-picture.py COLUMNS COMMAND…     the first word of the command is shown without its folder

The same output gives the same bytes.
"""

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from html import escape

WIDTH, HEIGHT, SIZE, MARGIN = 8.0, 17.5, 13.3, 16  # of a character, a line, the font, the border; pixels
GROUND, TEXT, MUTED = "#12181f", "#dbe3ec", "#8fa0b3"
COLORS = {"31": "#ff7b86", "32": "#8fd19e", "33": "#e6c34a", "34": "#7ab8ff", "35": "#c9a7ff", "36": "#5fd0dc"}


def printed(columns, command):
    """What the command prints to a terminal of that width."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        os.environ["TERM"] = "xterm-256color"
        os.environ.pop("NO_COLOR", None)
        os.execvp(command[0], command)
    said = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        said += part
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("terminal-picture.py: {} failed: {}".format(command[0], said.decode("utf-8", "replace")))
    return said.decode("utf-8").replace("\r", "")


def runs(line, columns):
    """The line's pieces of one style: column, text, style. What is wider than the terminal is cut."""
    column, style = 0, ""
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        if piece.startswith("\x1b"):
            style = piece[2:-1]
            continue
        if column + len(piece) > columns:
            piece = piece[: max(0, columns - column - 1)] + "…" if column < columns else ""
        if piece.strip():
            bare = piece.lstrip(" ")
            yield column + len(piece) - len(bare), bare.rstrip(" "), style
        column += len(piece)


def look_of(style):
    """Attributes of a style: bold, dim, colors."""
    codes = style.split(";")
    fill = next((COLORS[code] for code in codes if code in COLORS), MUTED if "2" in codes else "")
    return (' fill="{}"'.format(fill) if fill else "") + (' font-weight="700"' if "1" in codes else "")


def main():
    columns, command = int(sys.argv[1]), sys.argv[2:]
    shown = "$ " + " ".join([os.path.basename(command[0]), *(word for word in command[1:] if "progress" not in word and word != "never")])
    lines = [shown, "", *printed(columns, command).rstrip("\n").split("\n")]
    width, height = columns * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:g} {1:g}" width="{0:g}" height="{1:g}" role="img">'.format(width, height))
    print("<title>{}</title>".format(escape(shown)))
    print('<rect width="100%" height="100%" rx="8" fill="{}"/>'.format(GROUND))
    print(
        '<g fill="{}" font-size="{}" font-family="ui-monospace, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" '
        'style="white-space: pre">'.format(TEXT, SIZE)
    )
    for number, line in enumerate(lines):
        y = MARGIN + (number + 0.75) * HEIGHT
        for column, text, style in runs(line, columns):
            print(
                '<text x="{:g}" y="{:g}" textLength="{:g}"{}>{}</text>'.format(
                    MARGIN + column * WIDTH, y, len(text) * WIDTH, look_of(style), escape(text)
                )
            )
    print("</g>\n</svg>")


main()
