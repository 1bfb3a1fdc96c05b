"""What accompanies the packages of a release: the changes, and checksums."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from materials import Package
from version import ROOT, Version, run


def changes(version: Version) -> str:
    """The section of the changelog: the version's, or the unreleased one for a commit without a tag.

    Raises:
        SystemExit: The changelog has no such section.
    """
    title = "Unreleased" if version.local else version.semantic
    text = (ROOT / "CHANGELOG.md").read_text()
    found = re.search(rf"^## \[?{re.escape(title)}\]?[^\n]*\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if not found:
        raise SystemExit(f"CHANGELOG.md has no section '## {title}'; rename '## Unreleased'.")
    return found[1].strip() + "\n"


def build(out: Path, work: Path) -> list[Package]:
    """Writes the files into `out`."""
    (out / "CHANGES.md").write_text(changes(Version.current()))
    sums = out / "SHA256SUMS"
    named = sorted(each for each in out.iterdir() if not each.name.startswith(sums.name))
    sums.write_text("".join(
        f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in named
    ))
    result = [out / "CHANGES.md", sums]
    if key := os.environ.get("SIGNING_KEY"):
        signature = out / "SHA256SUMS.asc"
        run("gpg", "--batch", "--yes", "--local-user", key, "--armor", "--output", signature,
            "--detach-sign", sums)
        result.append(signature)
    return [Package(each) for each in result]
