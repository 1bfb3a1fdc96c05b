"""Programs in other languages, built once for the run."""

import os
import subprocess

import grpc
import pytest

from sidelight_testing.contract import REPOSITORY, frame_filter, service
from sidelight_testing.debian import require_packages

# A first build takes about a minute; later ones compile only files that changed.
BUILD_SECONDS = 900


def build(*command: object) -> None:
    """Runs a command of a build at low priority, and shows its output if it fails."""
    finished = subprocess.run(
        ["nice", "-n", "10", *map(str, command)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=BUILD_SECONDS,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout[-8000:]


@pytest.fixture(scope="session")
def cpp_programs():
    """The folder with the programs of `Examples/cpp`."""
    require_packages(
        "cmake", "g++", "make", "libgrpc++-dev", "libprotobuf-dev", "protobuf-compiler",
        "protobuf-compiler-grpc",
    )
    folder = REPOSITORY / ".build/cpp"
    build("cmake", "-S", REPOSITORY / "Examples/cpp", "-B", folder)
    build("cmake", "--build", folder, "--parallel", os.cpu_count())
    return folder


@pytest.fixture(scope="session")
def go_programs():
    """The folder with the program and the tests of `Examples/go`."""
    require_packages(
        "golang-go", "golang-github-golang-protobuf-1-5-dev", "golang-github-pion-webrtc.v3-dev",
        "golang-google-grpc-dev", "libprotobuf-dev", "protobuf-compiler", "protoc-gen-go",
        "protoc-gen-go-grpc",
    )
    folder = REPOSITORY / ".build/go"
    build(REPOSITORY / "Examples/go/build", folder)
    return folder


@pytest.fixture(scope="session")
def codecs(server):
    """Skips the test if the server was built without the codecs."""
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        info = service.FrameFilterStub(channel).GetServerInfo(frame_filter.GetServerInfoRequest())
    if not any(each.encodes for each in info.codecs):
        pytest.skip("the server was built without the codecs")
