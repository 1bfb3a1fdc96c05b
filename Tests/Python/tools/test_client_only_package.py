"""A package that uses only SidelightClient fetches no HTTP server, YAML or JWT library."""

import json
import os
import subprocess

from sidelight_testing.contract import REPOSITORY

MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "app", platforms: [.macOS(.v15)],
  dependencies: [.package(name: "sidelight", path: "{path}", traits: [{traits}])],
  targets: [
    .target(
      name: "App", dependencies: [.product(name: "SidelightClient", package: "sidelight")])
  ])
"""


def fetched(folder, traits: str) -> set[str]:
    """The identities of all packages that an app with these traits of Sidelight resolves."""
    sources = folder / "Sources/App"
    sources.mkdir(parents=True)
    (sources / "App.swift").write_text("import SidelightClient\n")
    (folder / "Package.swift").write_text(MANIFEST.format(path=REPOSITORY, traits=traits))
    shown = subprocess.run(
        ["swift", "package", "show-dependencies", "--format", "json"],
        cwd=folder, check=True, stdout=subprocess.PIPE, text=True, timeout=900,
        # SwiftPM leaves files in the folder for temporary ones.
        env={**os.environ, "LC_ALL": "C.UTF-8", "TMPDIR": str(folder)},
    ).stdout
    # Progress of fetching precedes the JSON.
    tree = json.loads(shown[shown.index("{\n") :])

    def identities(node) -> set[str]:
        return {node["identity"]}.union(*map(identities, node["dependencies"]))

    return identities(tree)


def test_a_client_fetches_only_what_it_uses(tmp_path):
    packages = fetched(tmp_path, "")
    assert "grpc-swift-2" in packages
    unused = {"hummingbird", "async-http-client", "jwt-kit", "yams", "swift-configuration"}
    assert packages & unused == set()
