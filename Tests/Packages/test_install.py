"""Every package, installed as a user does it in an empty Debian, up to the first filtered frame, in a minute
without downloads. `dev/test packages` runs it; it needs root, mmdebstrap, and Debian's and PyPI's mirrors."""

import contextlib
import gzip
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGES = REPOSITORY / "out/packages"
# From an installed system to the first filtered frame.
MOST_SECONDS = 60
# Writes packages of the same program again.
REPEAT = """
import importlib, sys
from pathlib import Path
sys.path.insert(0, "Tools/Packages")
importlib.import_module(sys.argv[1]).build(*map(Path, sys.argv[2:]))
"""
# The words that bash completes, of a command and the beginning of its next word.
COMPLETE = """
source /usr/share/bash-completion/completions/sidelight
COMP_WORDS=(sidelight "$@") COMP_CWORD=$# COMP_LINE="sidelight $*" COMP_POINT=${#COMP_LINE}
_sidelight sidelight "${!#}" ""
echo "${COMPREPLY[@]}"
"""
# Of this machine the commands see nothing.
ENVIRONMENT = (
    "env", "-i", "-C", "/", "HOME=/root", "DEBIAN_FRONTEND=noninteractive",
    "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
)
# Starts a server, sends it a white frame, and compares the frame that comes back with a black one.
FILTER_A_FRAME = r"""
set -e
cd "$(mktemp -d)"
white() { printf 'YUV4MPEG2 W64 H48 F30:1 C420jpeg\nFRAME\n'; head -c 3072 /dev/zero | tr '\0' "\\$1"; head -c 1536 /dev/zero | tr '\0' '\200'; }
sidelight serve --listen "unix:$PWD/socket" >started 2>log &
server=$!
while ! grep -q listening started; do kill -0 $server || { cat log; exit 1; }; sleep 0.1; done
white 377 | sidelight stream - - --server "unix:$PWD/socket" --pipeline "${1:-colorInvert}" >filtered.y4m
kill $server
wait $server
white 000 | tail -c 4608 >expected
tail -c 4608 filtered.y4m | cmp - expected && echo "the frame is filtered"
"""


def skip(reason: str) -> None:
    """Skips a test, or fails where packages are published: none may be that did not run."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def package(pattern: str) -> Path:
    found = sorted(PACKAGES.glob(pattern))
    if not found:
        pytest.skip(f"out/packages has no {pattern}; run make packages")
    return found[-1]


def run(*command: object, **options: object) -> str:
    """The output of a command, which must succeed."""
    found = subprocess.run(
        [str(each) for each in command], capture_output=True, text=True, timeout=600, **options
    )
    assert found.returncode == 0, f"{command}\n{found.stdout[-4000:]}\n{found.stderr[-4000:]}"
    return found.stdout


class Root:
    """A folder with an installed Debian, in which commands run."""

    def __init__(self, folder: Path):
        self.folder = folder

    def copy(self, file: Path) -> str:
        """Copies a file into the root, and returns its path there."""
        shutil.copy(file, self.folder / "tmp")
        return f"/tmp/{file.name}"

    def run(self, *command: object, text: str | None = None) -> str:
        # Processes in it end with the command.
        return run(
            "unshare", "--mount", "--pid", "--fork", "--kill-child", f"--root={self.folder}",
            "--mount-proc", *ENVIRONMENT, *command, input=text,
        )

    def filter_a_frame(self, *arguments: str, path: str = "/usr/bin") -> None:
        script = ("env", f"PATH={path}:/usr/bin:/bin", "sh", "-s", *arguments)
        assert "the frame is filtered" in self.run(*script, text=FILTER_A_FRAME)


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    """A minimal Debian with apt and a Python."""
    if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
        skip("needs root and mmdebstrap")
    path = tmp_path_factory.mktemp("debian") / "root.tar"
    run("mmdebstrap", "--variant=apt", "--include=python3-venv,ca-certificates", "bookworm", path)
    return path


@pytest.fixture
def debian(archive, tmp_path) -> Root:
    folder = tmp_path / "root"
    folder.mkdir()
    run("tar", "--extract", "--file", archive, "--directory", folder)
    # Names, mirrors and certificates as this machine has them.
    for name in ("etc/resolv.conf", "etc/hosts", "etc/pip.conf", "etc/ssl/certs/ca-certificates.crt"):
        if Path("/", name).is_file():
            shutil.copy(Path("/", name), folder / name)
    yield Root(folder)
    shutil.rmtree(folder)


@contextlib.contextmanager
def in_a_minute(name: str) -> Iterator[None]:
    begin = time.monotonic()
    yield
    seconds = time.monotonic() - begin
    print(f"\n{name}: {seconds:.0f} s")
    assert seconds <= MOST_SECONDS


def bill(path: Path) -> set[str]:
    """The names of the parts in a package's bill of materials, every one with a licence."""
    document = json.loads(path.with_name(f"{path.name}.cdx.json").read_text())
    components = document["components"]
    unlicensed = {each["name"] for each in components if not each["licenses"]}
    assert all(each["purl"].startswith("pkg:pypi/") for each in components if each["name"] in unlicensed)
    return {each["name"] for each in components}


@pytest.mark.parametrize("name", ["sidelight", "sidelight-vision"])
def test_the_debian_package(debian, name):
    file = package(f"{name}_*.deb")
    install = ("apt-get", "install", "-qq", "--no-install-recommends", debian.copy(file))
    debian.run("apt-get", "update", "-qq")
    debian.run(*install, "--download-only")
    with in_a_minute(file.name):
        debian.run(*install)
        debian.filter_a_frame()


def test_the_debian_package_has_a_manual_and_completions(debian):
    debian.run("apt-get", "update", "-qq")
    debian.run("apt-get", "install", "-qq", "--no-install-recommends", debian.copy(package("sidelight_*.deb")))
    share = debian.folder / "usr/share"
    manual = gzip.decompress((share / "man/man1/sidelight.1.gz").read_bytes()).decode()
    commands = re.findall(r"^  ([a-z]+)", debian.run("sidelight", "--help").partition("SUBCOMMANDS:")[2], re.MULTILINE)
    assert {"serve", "stream", "load"} <= set(commands)
    for each in commands:
        assert f'\n.SH "{each.upper()}"\n' in manual

    def completed(*words: str) -> list[str]:
        return debian.run("bash", "-c", COMPLETE, "bash", *words).split()

    assert completed("str") == ["stream"]
    assert "--pipeline" in completed("load", "--pi")
    assert (share / "zsh/vendor-completions/_sidelight").read_text().startswith("#compdef sidelight\n")


@pytest.mark.parametrize("module, pattern", [("debian", "*.deb"), ("wheel", "*.whl")])
def test_a_second_package_of_the_program_is_equal(module, pattern, tmp_path):
    if not (REPOSITORY / ".build-static/package/sidelight").is_file():
        skip("the program of the packages is not here; dev/packages builds it")
    for name in ("out", "work"):
        (tmp_path / name).mkdir()
    run("python3", "-c", REPEAT, module, tmp_path / "out", tmp_path / "work", cwd=REPOSITORY)
    repeated = sorted((tmp_path / "out").glob(pattern))
    assert repeated
    for each in repeated:
        assert each.read_bytes() == package(each.name).read_bytes(), each.name


def test_the_debian_package_has_everything_that_belongs_to_a_service(debian):
    file = package("sidelight_*.deb")
    debian.run("apt-get", "update", "-qq")
    # `apt` installs sysusers with systemd, as on a host.
    debian.run("apt-get", "install", "-qq", "--no-install-recommends", "systemd", debian.copy(file))
    assert "sidelight" in debian.run("getent", "passwd", "sidelight")
    debian.run("systemd-analyze", "verify", "--man=no", "sidelight.service")
    assert (debian.folder / "etc/systemd/system/multi-user.target.wants/sidelight.service").is_symlink()
    settings = "/etc/sidelight/sidelight.yaml"
    assert "/run/sidelight/grpc.sock" in debian.run(
        "sidelight", "serve", "--config", settings, "--print-config")
    version = debian.run("sidelight", "--version").strip()
    assert file.name.startswith(f"sidelight_{version.replace('-', '~')}-1_")
    # A changed file of settings survives an update and a removal, but not a purge.
    path = debian.folder / settings[1:]
    path.write_text(path.read_text() + "# ours\n")
    debian.run("apt-get", "install", "-qq", "--reinstall", f"/tmp/{file.name}")
    debian.run("apt-get", "remove", "-qq", "sidelight")
    assert path.read_text().endswith("# ours\n")
    debian.run("apt-get", "purge", "-qq", "sidelight")
    assert not path.exists()
    assert {"swift-nio", "libvpx7", "swift-runtime"} <= bill(file)


def test_lintian_finds_nothing():
    if not shutil.which("lintian"):
        skip("not installed: lintian")
    package("*.deb")
    for file in sorted(PACKAGES.glob("*.deb")):
        run("lintian", "--fail-on=error,warning", file)


def test_the_wheel(debian):
    file = package("sidelight-*-manylinux_*.whl")
    debian.run("python3", "-m", "venv", "/venv")
    copied = debian.copy(file)
    debian.run("/venv/bin/pip", "download", "-q", "--dest", "/wheels", copied)
    with in_a_minute(file.name):
        debian.run("/venv/bin/pip", "install", "-q", "--no-index", "--find-links", "/wheels", copied)
        debian.filter_a_frame(path="/venv/bin")
    version = debian.run("/venv/bin/python", "-c", "import sidelight; print(sidelight.__version__)")
    assert file.name.startswith(f"sidelight-{version.strip()}-")
    assert {"swift-nio", "libvpx7", "grpcio"} <= bill(file)


@pytest.mark.parametrize("name", ["sidelight", "sidelight-vision"])
def test_the_image(name):
    if not shutil.which("docker") or subprocess.run(["docker", "info"], capture_output=True).returncode:
        skip("no Docker engine answers; DOCKER_HOST names one")
    file = package(f"{name}_*.image.tar")
    options = ["--rm", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--network", "none"]
    with in_a_minute(file.name):
        image = re.search(r"Loaded image: (\S+)", run("docker", "load", "--input", file))[1]
        script = ("--interactive", "--entrypoint", "sh", image, "-s")
        assert "the frame is filtered" in run("docker", "run", *options, *script, input=FILTER_A_FRAME)
    try:
        # As it is started without arguments.
        identifier = run("docker", "run", "--detach", *options, image).strip()
        try:
            deadline = time.monotonic() + 60
            while "listening" not in run("docker", "logs", identifier):
                assert time.monotonic() < deadline, run("docker", "logs", identifier)
                time.sleep(0.1)
            assert run("docker", "exec", identifier, "id", "-u").strip() == "65532"
            run("docker", "stop", "--time", "30", identifier)
        finally:
            subprocess.run(["docker", "kill", identifier], capture_output=True)
    finally:
        run("docker", "image", "rm", "--force", image)
    assert {"swift-nio", "libc6", "libvpx7"} <= bill(file)


def test_checksums_agree():
    package("SHA256SUMS")
    run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=PACKAGES)


def test_the_client_for_browsers(tmp_path):
    if not shutil.which("npm"):
        skip("not installed: npm")
    file = package("sidelight-web-*.tgz")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    run("npm", "install", "--silent", "--no-audit", "--offline", file, cwd=tmp_path)
    script = "import { Server } from 'sidelight-web'; console.log(typeof Server)"
    assert run("node", "--input-type=module", "-e", script, cwd=tmp_path).strip() == "function"
