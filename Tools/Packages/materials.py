"""Bills of materials in CycloneDX 1.5: the parts of a package, with versions and licences."""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from version import ROOT, Version, architecture, epoch, run

Component = dict[str, object]


@dataclass
class Package:
    """A file of a release. Without components it has no bill of materials."""

    path: Path
    name: str = ""
    kind: str = ""  # of CycloneDX: application, library or container
    components: list[Component] | None = None


def licence(text: str) -> str:
    """The SPDX expression of a Swift package's licence file."""
    if "Apache License" in text:
        exception = "Runtime Library Exception" in text
        return "Apache-2.0 WITH Swift-exception" if exception else "Apache-2.0"
    if "Permission is hereby granted, free of charge" in text:
        return "MIT"
    raise SystemExit(f"A licence is unknown to Tools/Packages/materials.py: {text[:80]!r}")


def component(name: str, version: str, purl: str, licences: list[dict], **more: object) -> Component:
    found: Component = {"type": "library", "name": name, "licenses": licences, **more}
    if version:
        found["version"] = version
    if purl:
        found["purl"] = found["bom-ref"] = purl
    return found


def swift_packages() -> list[Component]:
    """The packages whose modules are linked into the command."""
    build = ROOT / ".build-static"
    objects = (build / "release/sidelight.product/Objects.LinkFileList").read_text()
    modules = set(re.findall(r"/([\w-]+)\.build/", objects))
    result = []
    for pin in json.loads((ROOT / "Package.resolved").read_text())["pins"]:
        location = pin["location"].removesuffix(".git").removeprefix("https://")
        checkout = build / "checkouts" / location.rpartition("/")[2]
        if not modules & {each.name for each in (checkout / "Sources").glob("*")}:
            continue
        [text] = [each.read_text() for each in sorted(checkout.glob("LICENSE*"))[:1]]
        state = pin["state"]
        result.append(component(
            pin["identity"], state["version"], f"pkg:swift/{location}@{state['version']}",
            [{"expression": licence(text)}],
            hashes=[{"alg": "SHA-1", "content": state["revision"]}],
        ))
    compiler = re.search(r"Swift version ([\d.]+)", run("swift", "--version"))[1]
    result.append(component(
        "swift-runtime", compiler, f"pkg:generic/swift@{compiler}",
        [{"expression": "Apache-2.0 WITH Swift-exception"}],
    ))
    # Code of others in these packages, which NOTICE lists.
    notice = (ROOT / "NOTICE").read_text()
    section = notice.partition("contain code of others")[2].partition("====")[0]
    for name, terms in re.findall(r"^  (\S.*?) {2,}(\S.*(?:\n {20,}\S.*)*)", section, re.MULTILINE):
        terms = re.sub(r"\s+", " ", terms)
        result.append(component(name, "", "", [{"license": {"name": terms}}]))
    return result


def debian_package(name: str, version: str, text: str) -> Component:
    """A Debian package, with the licences that its copyright file names."""
    names = sorted(set(re.findall(r"^License: *(\S.*?)\s*$", text, re.MULTILINE)))
    licences = [{"license": {"name": each}} for each in names]
    purl = f"pkg:deb/debian/{name}@{version.replace('+', '%2B')}?arch={architecture()}&distro=debian-12"
    return component(
        name, version, purl, licences or [{"license": {"name": f"see /usr/share/doc/{name}/copyright"}}]
    )


def installed(names: list[str]) -> list[Component]:
    """Debian packages of this machine."""
    result = []
    for name in names:
        version = run("dpkg-query", "--show", "--showformat", "${Version}\n", name).split()[0]
        text = Path(f"/usr/share/doc/{name}/copyright").read_text(errors="replace")
        result.append(debian_package(name, version, text))
    return result


def dependencies(package: Path, *fields: str) -> list[str]:
    """The packages that a Debian package names in a field, such as Depends."""
    text = run("dpkg-deb", "--field", package, *fields)
    relations = re.sub(r"^\w+: ", "", text, flags=re.MULTILINE).replace("\n", ",").split(",")
    return sorted({re.split(r"[ |:(]", each.strip())[0] for each in relations if each.strip()})


def write(package: Package) -> None:
    """Writes the bill of a package beside it."""
    version = Version.current().semantic
    ordered = sorted(package.components or [], key=lambda each: str(each["name"]))
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, package.path.name)}",
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch(), timezone.utc).isoformat(),
            "component": {
                "type": package.kind, "name": package.name, "version": version,
                "bom-ref": package.path.name,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            },
        },
        "components": ordered,
    }
    path = package.path.with_name(f"{package.path.name}.cdx.json")
    path.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
