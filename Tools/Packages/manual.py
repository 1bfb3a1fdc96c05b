"""The manual page, from the texts that the command prints with --help."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from pathlib import Path

from version import run

TITLES = {"OVERVIEW": "DESCRIPTION", "USAGE": "SYNOPSIS", "SUBCOMMANDS": "COMMANDS"}


def quoted(text: str) -> str:
    """A text that roff prints as it is."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def pages(program: Path, *command: str) -> list[tuple[tuple[str, ...], str]]:
    """A command's text, and its subcommands' texts after it."""
    text = run(program, *command, "--help")
    _, _, listed = text.partition("SUBCOMMANDS:\n")
    found = [(command, text)]
    for name in re.findall(r"^  ([a-z][\w-]*) ", listed, re.MULTILINE):
        found += pages(program, *command, name)
    return found


def manual(program: Path, seconds: int, version: str) -> str:
    """The page in roff. Its date is a time in seconds."""
    date = datetime.fromtimestamp(seconds, timezone.utc).date()
    lines = [
        f'.TH SIDELIGHT 1 "{date}" "Sidelight {version}" "User Commands"', ".SH NAME",
        r"sidelight \- filter live video",
    ]
    for command, text in pages(program):
        if command:
            lines.append(f'.SH "{quoted(" ".join(command)).upper()}"')
        for title, body in re.findall(r"^([A-Z ]+):[ \n](.*?)(?=\n[A-Z ]+:[ \n]|\Z)", text, re.DOTALL | re.MULTILINE):
            section = quoted(TITLES.get(title, title))
            body = re.sub(r"\n\n  See 'sidelight help .*", "", body.rstrip())
            lines += [f'.{"SS" if command else "SH"} "{section}"', ".nf", quoted(body.strip("\n")), ".fi"]
    return "\n".join(lines) + "\n"
