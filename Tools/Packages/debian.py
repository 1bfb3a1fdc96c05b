"""The Debian packages: the command with its manual, completions, unit and default settings, and its
debug symbols apart."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from email.utils import formatdate
from pathlib import Path

from manual import manual
from materials import Package, dependencies, installed, swift_packages
from version import ROOT, Version, architecture, epoch, run

MAINTAINER = "The Sidelight authors <sidelight@example.org>"
# By name: the folder of the program (`dev/build --static`), the other package, more relations, description.
VARIANTS = {
    "sidelight": ("package", "sidelight-vision", "", "without faces and models"),
    "sidelight-vision": (
        "package-vision", "sidelight", "Provides: sidelight (= {version})\n", "with faces and models",
    ),
}
DESCRIPTION = """\
 Sidelight filters live video over gRPC, for calls, broadcasts and cameras. It
 has about two hundred filters, accepts raw and encoded frames, and drops late
 frames with a reason instead of queueing them."""


def write(path: Path, content: str | bytes, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)


def compressed(text: str) -> bytes:
    return gzip.compress(text.encode(), 9, mtime=epoch())


def shared_libraries(program: Path, work: Path) -> str:
    """The packages of the libraries that a program needs, with the versions that have its symbols."""
    write(work / "debian/control", "Source: sidelight\n\nPackage: sidelight\nArchitecture: any\n")
    found = run("dpkg-shlibdeps", "-O", program.resolve(), cwd=work, stderr=subprocess.DEVNULL)
    return found.strip().removeprefix("shlibs:Depends=")


def copyright_file() -> str:
    notice = (ROOT / "NOTICE").read_text()
    lines = "\n".join(f" {line}" if line.strip() else " ." for line in notice.splitlines())
    return f"""\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Sidelight
Comment:
{lines}

Files: *
Copyright: The Sidelight authors
License: Apache-2.0
 On Debian systems the text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
"""


def stage(name: str, version: str, program: Path, root: Path) -> None:
    """Puts the package's files below a folder."""
    shutil.copy(program, root / "usr/bin/sidelight")
    (root / "usr/bin/sidelight").chmod(0o755)
    share = root / "usr/share"
    help_texts = manual(program, epoch(), version)
    write(share / "man/man1/sidelight.1.gz", compressed(help_texts))
    completions = {"bash": "bash-completion/completions/sidelight", "zsh": "zsh/vendor-completions/_sidelight"}
    for shell, path in completions.items():
        script = run(program, "--generate-completion-script", shell)
        write(share / path, script.removeprefix("#!/bin/bash\n\n"))
    deploy = ROOT / "deploy"
    write(root / "usr/lib/systemd/system/sidelight.service",
          (deploy / "systemd/sidelight.service").read_bytes())
    write(root / "usr/lib/sysusers.d/sidelight.conf", (deploy / "systemd/sysusers.conf").read_bytes())
    write(root / "etc/sidelight/sidelight.yaml", (deploy / "systemd/sidelight.yaml").read_bytes())
    documents = share / f"doc/{name}"
    write(documents / "copyright", copyright_file())
    write(documents / "changelog.gz", compressed((ROOT / "CHANGELOG.md").read_text()))
    write(documents / "changelog.Debian.gz", compressed(
        f"sidelight ({version}) unstable; urgency=medium\n\n"
        f"  * Release of {version.rpartition('-')[0]}; see changelog.gz.\n\n"
        f" -- {MAINTAINER}  {formatdate(epoch())}\n"))
    write(documents / "examples/sidelight.yaml", (deploy / "sidelight.yaml").read_bytes())
    overrides = (Path(__file__).parent / "lintian-overrides").read_text()
    write(share / f"lintian/overrides/{name}", overrides.replace("PACKAGE", name))


def finish(root: Path, control: str, out: Path) -> Path:
    """Writes the control files and builds the package."""
    size = sum((f.lstat().st_size + 1023) // 1024 for f in root.rglob("*") if not f.is_dir())
    scripts = Path(__file__).parent / "scripts"
    if (root / "etc").is_dir():
        write(root / "DEBIAN/conffiles", "/etc/sidelight/sidelight.yaml\n")
        for script in sorted(scripts.iterdir()):
            write(root / "DEBIAN" / script.name, script.read_bytes(), 0o755)
    sums = [
        f"{run('md5sum', file).split()[0]}  {file.relative_to(root)}\n"
        for file in sorted(root.rglob("*"))
        if file.is_file() and file.relative_to(root).parts[0] not in ("DEBIAN", "etc")
    ]
    write(root / "DEBIAN/md5sums", "".join(sums))
    write(root / "DEBIAN/control", control.replace("SIZE", str(size)))
    for folder in [root, *root.rglob("*")]:
        if folder.is_dir():
            folder.chmod(0o755)
    name, version = (re.search(rf"^{key}: (.*)$", control, re.MULTILINE)[1] for key in ("Package", "Version"))
    result = out / f"{name}_{version}_{architecture()}.deb"
    # Files newer than the commit get the commit's time.
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch())}
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, result, env=environment)
    return result


def build(out: Path, work: Path) -> list[Package]:
    """Builds all packages into `out`."""
    version = f"{Version.current().debian}-1"
    result = []
    for name, (folder, other, relations, variant) in VARIANTS.items():
        program = ROOT / ".build-static" / folder / "sidelight"
        root = work / name
        (root / "usr/bin").mkdir(parents=True)
        stage(name, version, program, root)
        header = (
            f"Package: {name}\nSource: sidelight\nVersion: {version}\nArchitecture: {architecture()}\n"
            f"Maintainer: {MAINTAINER}\nInstalled-Size: SIZE\n"
        )
        opencv_data = ", opencv-data" if "vision" in name else ""
        control = (
            f"{header}Depends: {shared_libraries(program, work / f'{name}.libraries')}{opencv_data}\n"
            "Recommends: ca-certificates, fonts-dejavu-core, libzbar0, libzint2.11\nSuggests: ffmpeg, fonts-inter\n"
            f"Conflicts: {other}\nReplaces: {other}\n{relations.format(version=version)}"
            f"Section: video\nPriority: optional\n"
            f"Description: gRPC server that filters live video, {variant}\n{DESCRIPTION}\n"
        )
        built = finish(root, control, out)
        components = swift_packages() + installed(dependencies(built, "Depends"))
        result.append(Package(built, name, "application", components))
        debug = work / f"{name}-dbgsym"
        identifier = re.search(r"Build ID: (\w+)", run("readelf", "-n", program))[1]
        place = debug / f"usr/lib/debug/.build-id/{identifier[:2]}/{identifier[2:]}.debug"
        write(place, program.with_suffix(".debug").read_bytes())
        link = debug / f"usr/share/doc/{name}-dbgsym"
        link.parent.mkdir(parents=True)
        link.symlink_to(name)
        control = (
            f"{header.replace(name, f'{name}-dbgsym', 1)}Depends: {name} (= {version})\n"
            f"Section: debug\nPriority: optional\nAuto-Built-Package: debug-symbols\n"
            f"Build-Ids: {identifier}\nDescription: debug symbols for {name}\n"
        )
        result.append(Package(finish(debug, control, out)))
    return result
