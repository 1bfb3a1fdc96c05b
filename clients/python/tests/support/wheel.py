"""Checks the content of a wheel: python wheel.py FILE."""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "src"


def errors(path: Path) -> list[str]:
    """The differences of a wheel from the sources, and from what a pure and typed wheel contains."""
    found = []
    if not path.name.endswith("-py3-none-any.whl"):
        found.append(f"{path.name} is not a pure wheel")
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        metadata = next(
            wheel.read(name).decode() for name in names if name.endswith(".dist-info/METADATA")
        )
    sources = {
        str(file.relative_to(SOURCES))
        for file in (SOURCES / "sidelight").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    packaged = {name for name in names if not re.match(r"sidelight-[^/]+\.dist-info/", name)}
    found += [f"{name} is missing" for name in sorted(sources - packaged)]
    found += [f"{name} does not belong to the package" for name in sorted(packaged - sources)]
    if "sidelight/py.typed" not in packaged:
        found.append("py.typed is missing")
    messages = {name for name in packaged if name.endswith("_pb2.py")}
    if not messages:
        found.append("there are no generated messages")
    found += [f"{name}i is missing" for name in sorted(messages) if f"{name}i" not in packaged]
    for line in metadata.splitlines():
        if line.startswith("Requires-Dist:") and re.search(r"<|==|~=", line.split(";")[0]):
            found.append(f"a dependency has an upper bound: {line}")
    return found


if __name__ == "__main__":
    problems = errors(Path(sys.argv[1]))
    print("\n".join(problems) or f"{Path(sys.argv[1]).name}: complete")
    sys.exit(bool(problems))
