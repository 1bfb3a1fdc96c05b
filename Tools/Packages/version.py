"""The version of a package, which the tag has, and the time of its files, which is the commit's."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FORM = re.compile(r"v(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.(\d+))?-(\d+)-(g[0-9a-f]+)")


def run(*command: object, **options) -> str:
    """Runs a command, and returns what it prints. A failure is an error."""
    options = {"stdout": subprocess.PIPE, "text": True, **options}
    return subprocess.run([str(each) for each in command], check=True, **options).stdout


def git(*arguments: str) -> str:
    return run("git", *arguments, cwd=ROOT).strip()


def architecture() -> str:
    """Debian's name of this machine's architecture."""
    return run("dpkg", "--print-architecture").strip()


@dataclass(frozen=True)
class Version:
    """A version in the forms of the package formats. A commit without a tag has the version of the
    tag before (0.0.0 if there is none), with the number of commits since then and its hash."""

    number: str
    stage: str  # alpha, beta, rc or empty
    stage_number: str
    local: str  # as 12.g0123abcd; empty for a tag

    @classmethod
    def parse(cls, described: str) -> Version:
        """Reads the output of `git describe --long`.

        Raises:
            SystemExit: The tag is not in the form v1.2.3 or v1.2.3-rc.1.
        """
        found = FORM.fullmatch(described)
        if not found:
            raise SystemExit(
                f"The tag of {described} is not a version; use v1.2.3, or v1.2.3-rc.1 (alpha, beta, rc)."
            )
        number, stage, stage_number, commits, revision = found.groups()
        local = "" if commits == "0" else f"{commits}.{revision}"
        return cls(number, stage or "", stage_number or "", local)

    @classmethod
    def current(cls) -> Version:
        """The version of the checked-out commit."""
        try:
            described = run(
                "git", "describe", "--tags", "--match", "v[0-9]*", "--long", "--abbrev=8", cwd=ROOT,
                stderr=subprocess.DEVNULL,
            ).strip()
        except subprocess.CalledProcessError:
            count, revision = git("rev-list", "--count", "HEAD"), git("rev-parse", "--short=8", "HEAD")
            described = f"v0.0.0-{count}-g{revision}"
        return cls.parse(described)

    def form(self, before_stage: str, before_number: str, stage: str) -> str:
        pre = f"{before_stage}{stage}{before_number}{self.stage_number}" if self.stage else ""
        return self.number + pre + (f"+{self.local}" if self.local else "")

    @property
    def semantic(self) -> str:
        return self.form("-", ".", self.stage)

    @property
    def debian(self) -> str:
        """It sorts before the release that it precedes."""
        return self.form("~", ".", self.stage)

    @property
    def python(self) -> str:
        return self.form("", "", {"alpha": "a", "beta": "b"}.get(self.stage, self.stage))

    @property
    def tag(self) -> str:
        """A tag of an image, which has no plus sign."""
        return self.semantic.replace("+", "-")


def epoch() -> int:
    """The time of all files in seconds: SOURCE_DATE_EPOCH, or the commit's time."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct"))
