"""The client for browsers, as npm packs it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from debian import run
from materials import Package
from version import ROOT, Version


def build(out: Path, work: Path) -> list[Package]:
    """Packs the client into `out`."""
    source = work / "clients/web"
    shutil.copytree(ROOT / "clients/web", source, ignore=shutil.ignore_patterns("types", "tests"))
    # Its own settings of the compiler extend these.
    settings = Path("Tests/Studio/tsconfig.json")
    (work / settings).parent.mkdir(parents=True)
    shutil.copy(ROOT / settings, work / settings)
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, source)
    manifest = source / "package.json"
    content = json.loads(manifest.read_text())
    content["version"] = Version.current().semantic
    content["files"].append("NOTICE")
    manifest.write_text(json.dumps(content, indent=2) + "\n")
    answer = run("npm", "pack", "--silent", "--pack-destination", out, cwd=source)
    return [Package(out / answer.split()[-1], content["name"], "library", [])]
