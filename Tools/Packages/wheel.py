"""The wheels: the Python client alone, and with the command and the libraries that it needs.

Of the host, the command needs glibc and libstdc++ only. The other libraries are in the wheel, also those
that the rules for wheels expect on the host (glib, zlib), since small images lack them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

from materials import Component, Package, component, installed, swift_packages
from version import ROOT, Version, epoch, run

OF_HOST = re.compile(r"/(ld-linux-[\w-]+|lib(c|m|dl|pthread|rt|mvec|resolv|gcc_s|stdc\+\+))\.so")
TOOLS = ROOT / "out/package-tools"
EXTRA = """
[tool.hatch.build.targets.wheel.shared-scripts]
"command" = "sidelight"
"""


def python() -> Path:
    """A Python with the backend of the package."""
    wanted = (Path(__file__).parent / "requirements.txt").read_text()
    marker = TOOLS / "requirements.txt"
    if not marker.is_file() or marker.read_text() != wanted:
        run("python3", "-m", "venv", "--clear", TOOLS)
        run(TOOLS / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--requirement",
            Path(__file__).parent / "requirements.txt")
        marker.write_text(wanted)
    return TOOLS / "bin/python"


def libraries(program: Path) -> list[Path]:
    """The libraries that a program loads at start, without the host's."""
    found = re.findall(r"=> (/\S+)", run("ldd", program))
    return sorted(Path(each) for each in found if not OF_HOST.search(each))


def glibc(files: list[Path]) -> tuple[int, int]:
    """The oldest glibc in which the files work."""
    symbols = run("objdump", "-T", *files)
    return max((int(a), int(b)) for a, b in re.findall(r"\bGLIBC_(\d+)\.(\d+)", symbols))


def requirements(wheel: Path) -> list[Component]:
    """The packages that pip installs next to a wheel. Their versions are the user's."""
    with zipfile.ZipFile(wheel) as files:
        [name] = [each for each in files.namelist() if each.endswith(".dist-info/METADATA")]
        text = files.read(name).decode()
    found = re.findall(r"^Requires-Dist: ([\w-]+)([^;\n]*)$", text, re.MULTILINE)
    return [
        component(name, "", f"pkg:pypi/{name}", [], description=f"version {versions.strip()}")
        for name, versions in found
    ]


def package_of(library: Path) -> str:
    """The Debian package of a library. Its database says /lib where files are in /usr/lib."""
    path = str(library.resolve()).removeprefix("/usr")
    return run("dpkg-query", "--search", f"*{path}").split(":")[0]


def add_program(source: Path) -> list[Path]:
    """Adds the command and its libraries to the sources of the client, and returns the libraries."""
    folder = source / "src/sidelight/_program"
    folder.mkdir()
    program = ROOT / ".build-static/package/sidelight"
    shutil.copy(program, folder / "sidelight")
    found = libraries(program)
    for library in found:
        copy = folder / library.name
        shutil.copy(library, copy)
        copy.chmod(0o755)
        run("patchelf", "--set-rpath", "$ORIGIN", copy)
        package = package_of(library)
        # The backend puts files of this name next to LICENSE.
        shutil.copy(f"/usr/share/doc/{package}/copyright", source / f"LICENSE.{package}")
    run("patchelf", "--set-rpath", "$ORIGIN", folder / "sidelight")
    (folder / "sidelight").chmod(0o755)
    shutil.copy(Path(__file__).parent / "command", source)
    (source / "command").chmod(0o755)
    with (source / "pyproject.toml").open("a") as settings:
        settings.write(EXTRA)
    return found


def build(out: Path, work: Path) -> list[Package]:
    """Builds both wheels into `out`."""
    version = Version.current().python
    result = []
    for has_program in (False, True):
        source, made = work / f"source{has_program}", work / f"made{has_program}"
        shutil.copytree(ROOT / "clients/python", source,
                        ignore=shutil.ignore_patterns("__pycache__", ".*"))
        for name in ("LICENSE", "NOTICE"):
            shutil.copy(ROOT / name, source)
        file = source / "src/sidelight/_version.py"
        file.write_text(re.sub(r'"[^"]*"$', f'"{version}"', file.read_text().rstrip()) + "\n")
        components: list[Component] = []
        if has_program:
            packages = {package_of(each) for each in add_program(source)}
            components = swift_packages() + installed(sorted(packages))
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch())}
        subprocess.run(
            [python(), "-m", "hatchling", "build", "--target", "wheel", "--directory", made],
            cwd=source, env=environment, check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        [wheel] = made.iterdir()
        if has_program:
            files = sorted((source / "src/sidelight/_program").iterdir())
            major, minor = glibc(files)
            tag = f"manylinux_{major}_{minor}_{os.uname().machine}"
            run(python(), "-m", "wheel", "tags", "--remove", "--platform-tag", tag, wheel, env=environment)
            [wheel] = made.iterdir()
        components += requirements(wheel)
        result.append(Package(Path(shutil.copy(wheel, out)), "sidelight", "library", components))
    return result
