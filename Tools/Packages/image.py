"""Images without a container engine: Debian's packages in one layer, the files of our package in another.
The archive has the layout of the OCI and, for older engines, Docker's manifest."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
from datetime import datetime, timezone
from pathlib import Path

from debian import VARIANTS
from materials import Component, Package, debian_package, dependencies, swift_packages
from version import Version, architecture, epoch, git, run

SUITE = "bookworm"
# Where a crash is quickly followed by a restart, a backtrace takes too long.
ENVIRONMENT = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "SWIFT_BACKTRACE=enable=no"]
SERVE = ["serve", "--listen", "0.0.0.0:50051", "--admin", "0.0.0.0:9464", "--log-format", "json"]
# Debian's own images leave these files out too.
LEFT_OUT = ["path-exclude=/usr/share/man/*", "path-exclude=/usr/share/locale/*",
            "path-exclude=/usr/share/doc/*", "path-include=/usr/share/doc/*/copyright"]


def debian_packages(layer: bytes) -> list[Component]:
    """The Debian packages in a layer."""
    with tarfile.open(fileobj=io.BytesIO(layer)) as files:
        def text(path: str) -> str:
            file = files.extractfile(path)
            assert file
            return file.read().decode(errors="replace")

        names = {each.removeprefix("./"): each for each in files.getnames()}
        result = []
        for entry in text(names["var/lib/dpkg/status"]).strip().split("\n\n"):
            name, version = (
                re.search(rf"^{key}: (.*)$", entry, re.MULTILINE)[1] for key in ("Package", "Version")
            )
            copyright_file = names.get(f"usr/share/doc/{name}/copyright")
            # Some packages have a link to another one's folder.
            result.append(debian_package(name, version, text(copyright_file) if copyright_file else ""))
        return result


def base(package: Path, work: Path) -> bytes:
    """A layer with the packages that a package needs, and Debian's essential ones."""
    layer = work / "base.tar"
    needed = dependencies(package, "Depends", "Recommends")
    options = [f"--dpkgopt={each}" for each in LEFT_OUT]
    run(
        "mmdebstrap", "--quiet", "--variant=essential", f"--include={','.join(needed)}",
        *options, "--customize-hook=rm -f \"$1\"/var/cache/ldconfig/aux-cache", SUITE, layer,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch())},
    )
    return layer.read_bytes()


def compressed(data: bytes) -> bytes:
    return gzip.compress(data, 6, mtime=0)


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def archive(name: str, layers: list[bytes], path: Path) -> None:
    """Writes an image with the layers, which are archives."""
    version, created = Version.current(), datetime.fromtimestamp(epoch(), timezone.utc).isoformat()
    config = {
        "architecture": architecture(), "os": "linux", "created": created,
        "config": {
            "User": "65532:65532", "Env": ENVIRONMENT, "Entrypoint": ["/usr/bin/sidelight"], "Cmd": SERVE,
            "ExposedPorts": {"50051/tcp": {}, "9464/tcp": {}}, "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": name,
                "org.opencontainers.image.version": version.semantic,
                "org.opencontainers.image.revision": git("rev-parse", "HEAD"),
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [digest(each) for each in layers]},
        "history": [{"created": created, "created_by": by} for by in (f"Debian {SUITE}", name)],
    }
    blobs: dict[str, bytes] = {}

    def blob(data: bytes, kind: str) -> dict:
        blobs[f"blobs/sha256/{hashlib.sha256(data).hexdigest()}"] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": digest(data), "size": len(data)}

    def encoded(value: object) -> bytes:
        return json.dumps(value, sort_keys=True).encode()

    described = blob(encoded(config), "config.v1+json")
    parts = [blob(compressed(each), "layer.v1.tar+gzip") for each in layers]
    manifest = blob(encoded({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": described, "layers": parts,
    }), "manifest.v1+json")
    tag = f"{name}:{version.tag}"
    manifest["annotations"] = {
        "io.containerd.image.name": tag, "org.opencontainers.image.ref.name": version.tag,
    }
    files = {
        **blobs,
        "oci-layout": encoded({"imageLayoutVersion": "1.0.0"}),
        "index.json": encoded({"schemaVersion": 2, "manifests": [manifest]}),
        "manifest.json": encoded([{
            "Config": f"blobs/sha256/{described['digest'][7:]}", "RepoTags": [tag],
            "Layers": [f"blobs/sha256/{each['digest'][7:]}" for each in parts],
        }]),
    }
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as result:
        for file, data in sorted(files.items()):
            entry = tarfile.TarInfo(file)
            entry.size, entry.mtime, entry.mode = len(data), epoch(), 0o644
            result.addfile(entry, io.BytesIO(data))


def build(out: Path, work: Path) -> list[Package]:
    """Builds both images from the Debian packages in `out`."""
    result = []
    for name in VARIANTS:
        package = out / f"{name}_{Version.current().debian}-1_{architecture()}.deb"
        if not package.is_file():
            raise SystemExit(f"{package} is missing; run dev/packages deb.")
        files = work / "files.tar"
        with files.open("wb") as output:
            subprocess.run(["dpkg-deb", "--fsys-tarfile", package], stdout=output, check=True)
        path = out / f"{name}_{Version.current().semantic}_{architecture()}.image.tar"
        layers = [base(package, work), files.read_bytes()]
        archive(name, layers, path)
        components = swift_packages() + debian_packages(layers[0])
        result.append(Package(path, name, "container", components))
    return result
