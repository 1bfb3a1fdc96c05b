"""Makes packages: `python3 Tools/Packages PART...`, for dev/packages."""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path

import materials
from version import ROOT, Version

# By part: the module, and the files that it writes.
PARTS = {
    "deb": ("debian", "*.deb"),
    "wheel": ("wheel", "*.whl"),
    "images": ("image", "*.image.tar"),
    "npm": ("npm", "*.tgz"),
    "release": ("release", "SHA256SUMS"),
}


def main(parts: list[str]) -> None:
    if parts == ["version"]:
        print(Version.current().semantic)
        return
    out = ROOT / "out/packages"
    out.mkdir(parents=True, exist_ok=True)
    for part in parts:
        module, pattern = PARTS[part]
        for old in (*out.glob(pattern), *out.glob(f"{pattern}.*")):
            old.unlink()
        with tempfile.TemporaryDirectory(prefix="sidelight-packages-") as work:
            packages = importlib.import_module(module).build(out, Path(work))
        for package in packages:
            print(f"{package.path.relative_to(ROOT)}  {package.path.stat().st_size / 1e6:.1f} MB")
            if package.components is not None:
                materials.write(package)


if __name__ == "__main__":
    main(sys.argv[1:])
