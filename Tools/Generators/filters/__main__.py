"""Generates what follows from the descriptions of the filters, below the current folder:

    python3 -m filters types [FOLDER]        from the sources: the list of the filters' types, the
                                             embedding of kernels, and the table of rows in C
    python3 -m filters COMMAND [FOLDER]      from `COMMAND filters --all --json`: the typed functions of
                                             Swift and Python, the calls for the test of Swift's, and
                                             docs/reference/filters.md and core-image.md

FOLDER is another folder to write to. `make reference` runs both.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from . import core_image, kernels, markdown, python, rows, swift

ROOT = Path(__file__).resolve().parents[3]
#: A type that conforms to CatalogueFilter, directly or by a protocol of its family.
TYPE = re.compile(r"^(?:package )?struct (\w+): [^{]+\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
DESCRIPTION = re.compile(r"^  (?:package )?static (?:let|var) description\b", re.MULTILINE)


def types():
    """The types of filters with a description."""
    for path in (ROOT / "Sources/Kernels/Operations").rglob("*.swift"):
        source = path.read_text()
        found = [name for name, body in TYPE.findall(source) if DESCRIPTION.search(body)]
        for name in re.findall(r"struct (\w+): CatalogueFilter\b", source):
            if name not in found:
                raise ValueError(f"{path}: {name} needs a static description in its declaration")
        yield from found


def write(path, text):
    """Replaces only a different file: builds depend on it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(source, folder):
    if source == "types":
        write(folder / "Sources/Kernels/Generated/FilterTypes.swift", swift.registrations(types()))
        files = (ROOT / "Sources/KernelLanguage/Catalogue").glob("*.kernel")
        embedded = kernels.embedding(path.stem for path in files)
        write(folder / "Sources/CKernelCatalogue/files.c", embedded)
        header = (ROOT / "Sources/CKernels/include/CKernelsRows.h").read_text()
        generated = folder / "Sources/CKernels/rows/Generated"
        write(generated / "entries.inc", rows.entries(header))
        windows = (ROOT / "Sources/CKernels/rows/windows").glob("*.inc")
        write(generated / "windows.inc", rows.windows(path.name for path in windows))
        return
    listed = subprocess.check_output([source, "filters", "--all", "--json"])
    filters = json.loads(listed)["filters"]
    write(folder / "Sources/Kernels/Generated/Stage+Filters.swift", swift.source(filters))
    write(folder / "Tests/KernelsTests/Generated/TypedCalls.swift", swift.calls(filters))
    write(folder / "clients/python/src/sidelight/filters.py", python.source(filters))
    write(folder / "docs/reference/core-image.md", core_image.source(filters))
    write(
        folder / "docs/reference/filters.md",
        markdown.source(filters, ROOT / "docs/images/gallery"),
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT)
