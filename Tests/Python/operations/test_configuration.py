"""Settings of a real server: precedence of the sources, and error messages."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import grpc
import pytest
import yaml

from sidelight_testing.command import sidelight
from sidelight_testing.contract import REPOSITORY, frame_filter, service
from sidelight_testing.server import Server, binary

EX_USAGE = 64


def serve(*arguments: object, environment: dict[str, str] | None = None):
    """Runs `serve` where it is expected to exit."""
    return subprocess.run(
        [binary(), "serve", *arguments],
        env=os.environ | (environment or {}),
        capture_output=True,
        text=True,
        timeout=60,
    )


def printed(*arguments: object, environment: dict[str, str] | None = None) -> dict:
    """The output of `--print-config`: a value and an origin by key."""
    finished = serve("--print-config", *arguments, environment=environment)
    assert finished.returncode == 0, finished.stderr
    rows = [re.split(r"\s{2,}", line) for line in finished.stdout.strip().splitlines()]
    return {key: (value, origin) for key, value, origin in rows}


def faults(*arguments: object, environment: dict[str, str] | None = None) -> list[str]:
    """The messages of a server that refuses to start."""
    finished = serve(*arguments, environment=environment)
    assert finished.returncode == EX_USAGE, finished
    assert not finished.stdout
    *lines, last = finished.stderr.splitlines()
    assert last == "See 'sidelight serve --help'."
    return [line.removeprefix("Error: ") for line in lines]


# For every type of value: the key, its flag, and a text and its written form for every source.
TYPES = [
    ("limits.max-sessions", "--max-sessions", "7", "8", "9", "{} sessions"),
    ("limits.max-load", "--max-load", "0.5", "3", "0", "{}"),
    ("guards.keepalive-interval", "--guards-keepalive-interval", "500ms", "1min", "2s", "{}"),
    ("transport.max-message-bytes", "--max-message-bytes", "1MiB", "2MiB", "3MiB", "{}"),
    ("transport.profile", "--profile", "throughput", "latency", "throughput", "{}"),
    ("shared-memory.enabled", "--shared-memory", "false", "true", "false", "{}"),
    ("unix-socket.mode", "--unix-socket-mode", "660", "666", "777", "{}"),
    ("listen", "--listen", "127.0.0.1:1", "127.0.0.1:2", "unix:/tmp/3", "{}"),
    ("shared-memory.socket", "--shared-memory-socket", "/tmp/1", "/tmp/2", "/tmp/3", "{}"),
    ("studio.hosts", "--studio-hosts", "one", "two", "three", "{}"),
]


@pytest.mark.parametrize("key, flag, low, middle, high, form", TYPES, ids=lambda text: str(text))
def test_flags_override_variables_files_and_defaults(
    tmp_path, key, flag, low, middle, high, form
):
    file = tmp_path / "settings.yaml"
    section, _, name = key.rpartition(".")
    file.write_text(yaml.safe_dump({section: {name: low}} if section else {name: low}))
    variable = "SIDELIGHT_" + re.sub(r"\W", "_", key).upper()
    environment = {variable: middle}
    line = 2 if section else 1
    config = ("--config", file)
    default = printed()[key]
    assert default[1] == "default"
    assert printed(*config)[key] == (form.format(low), f"{file}:{line}")
    assert printed(*config, environment=environment)[key] == (form.format(middle), variable)
    assert printed(*config, f"{flag}={high}", environment=environment)[key] == (
        form.format(high),
        flag,
    )
    environment["SIDELIGHT_CONFIG"] = str(file)
    del environment[variable]
    assert printed(environment=environment)[key] == (form.format(low), f"{file}:{line}")


OLD, NEW = "shared-memory.companion-timeout", "shared-memory.descriptor-timeout"


def test_a_former_name_still_works_with_a_warning(tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_text("shared-memory: {companion-timeout: 3s}\n")
    sources = [
        (["--config", file], {}, f"{file}:1: {OLD} is now {NEW}", "3s"),
        (
            ["--shared-memory-companion-timeout", "4s"], {},
            "--shared-memory-companion-timeout is now --shared-memory-descriptor-timeout", "4s",
        ),
        (
            [], {"SIDELIGHT_SHARED_MEMORY_COMPANION_TIMEOUT": "5s"},
            "SIDELIGHT_SHARED_MEMORY_COMPANION_TIMEOUT is now "
            "SIDELIGHT_SHARED_MEMORY_DESCRIPTOR_TIMEOUT", "5s",
        ),
    ]  # fmt: skip
    for arguments, environment, warning, value in sources:
        assert printed(*arguments, environment=environment)[NEW][0] == value
        finished = serve("--print-config", *arguments, environment=environment)
        assert finished.stderr == f"Warning: {warning}\n"
        with Server(*map(str, arguments), environment=environment) as server:
            assert server.terminate() == 0, server.log
            assert "setting has a new name" in server.log and warning in server.log
    assert sidelight("settings", OLD).stdout.decode().startswith(NEW)


def test_a_removed_name_is_refused_with_a_remedy(tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_text("transport:\n  executor: concurrent\n")
    assert faults("--max-assets", "5", "--config", file) == [
        "--max-assets was removed; leave it out for its default; programs that embed the server "
        "set AssetConfiguration.maxAssets",
        f"{file}:2: transport.executor was removed; set transport.profile",
    ]
    said = sidelight("settings", "transport.executor", fails=True).stderr.decode()
    assert "was removed; set transport.profile" in said


def test_a_server_uses_its_settings(tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_text("limits: {max-sessions: 11}\ntransport: {profile: latency}\n")
    environment = {"SIDELIGHT_TRANSPORT_MAX_MESSAGE_BYTES": "1MiB", "SIDELIGHT_CONFIG": str(file)}
    with Server("--max-sessions", "12", environment=environment) as server:
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            request = frame_filter.GetServerInfoRequest()
            limits = service.FrameFilterStub(channel).GetServerInfo(request, timeout=60).limits
        assert (limits.max_sessions, limits.max_message_bytes) == (12, 1 << 20)
        assert server.terminate() == 0, server.log


def test_printed_yaml_can_be_read_again(tmp_path):
    given = ["--max-load=0", "--profile=throughput", "--shutdown-grace=1500ms", "-l", "[::1]:7"]
    given += ["--shared-memory", "--listen=unix:/tmp/a b#c", "--log-level=debug"]
    text = serve("--print-config=yaml", *given).stdout
    document = yaml.safe_load(text)
    assert document["listen"] == ["[::1]:7", "unix:/tmp/a b#c"]
    assert document["shared-memory"]["enabled"] is True
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    values = {key: value for key, (value, _) in printed(*given).items()}
    again = printed("--config", file)
    assert {key: value for key, (value, _) in again.items()} == values
    assert "--listen" in text and "--profile" in text  # Where values came from.


def test_secrets_are_not_printed(tmp_path):
    secret = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA=="
    file = tmp_path / "settings.yaml"
    file.write_text(f"resume:\n  keys: ['one:{secret}']\n")
    for form in ("", "=yaml"):
        finished = serve(f"--print-config{form}", "--config", file)
        assert finished.returncode == 0
        assert "<redacted>" in finished.stdout and "c2VjcmV0" not in finished.stdout
    keys = tmp_path / "keys"
    keys.write_text(f"# the first signs\none:{secret}\n")
    shown = serve("--print-config", "--resume-keys-file", keys).stdout
    assert str(keys) in shown and "c2VjcmV0" not in shown
    (refused,) = faults("--resume-keys", f"one:{secret}")
    assert "is not a flag" in refused and "SIDELIGHT_RESUME_KEYS" in refused


def test_all_errors_are_reported_at_once(tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_text("limits:\n  max-sessions: 0\n  max-sesions: 5\n")
    found = faults(
        *("--config", file, "--max-lod", "3", "--compute-threads", "0"),
        environment={"SIDELIGHT_LOG_LEVEL": "loud", "SIDELIGHT_LOG_LEVLE": "info"},
    )
    assert found == [
        "--max-lod is unknown; did you mean --max-load?",
        "SIDELIGHT_LOG_LEVLE is unknown; did you mean SIDELIGHT_LOG_LEVEL?",
        f"{file}:3: limits.max-sesions is unknown; did you mean limits.max-sessions?",
        "--compute-threads is 0; the range is 1 to 65536",
        "SIDELIGHT_LOG_LEVEL is loud; expected trace, debug, info, notice, warning, error or "
        "critical",
        f"{file}:2: limits.max-sessions is 0; the range is 1 to 65536",
    ]


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]\n"
    for below, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "contents, complaint",
    [
        (b"limits: {max-sessions: [1, 2]}", "is a list; expected one value"),
        (b"limits: {max-sessions: many}", "is many; expected an integer"),
        (b"limits:\n  max-load: 1\n  max-load: 2\n", "duplicate keys in one section: max-load"),
        (BOMB.encode(), "anchors and aliases (&, *) are not supported"),
        ((BOMB + "? *i\n: 1\n").encode(), "anchors and aliases (&, *) are not supported"),
        (b"[" * 100_000, "YAML"),
        (b"limits: {", "invalid YAML"),
        (b"limits: \xff\xfe", "is not UTF-8"),
        (b"#" * (1 << 20) + b"\n", "is larger than the limit of 1 MiB"),
    ],
    ids=["list", "type", "twice", "bomb", "bomb as a key", "deep", "cut", "bytes", "large"],
)
def test_an_invalid_file_is_refused(tmp_path, contents, complaint):
    file = tmp_path / "settings.yaml"
    file.write_bytes(contents)
    (found,) = faults("--config", file)
    assert found.startswith(f"{file}") and complaint in found


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    missing = tmp_path / "missing.yaml"
    assert faults("--config", missing) == [f"{missing} cannot be read: No such file or directory"]
    assert faults("--config", tmp_path) == [f"{tmp_path} is not a regular file"]
    assert faults(environment={"SIDELIGHT_CONFIG": str(missing)})[0].startswith(str(missing))
    # A reload would find them empty, and opening a pipe would wait for a writer.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for other in ("/dev/zero", pipe):
        assert faults("--config", other) == [f"{other} is not a regular file"]


def test_a_file_without_read_permission_is_refused():
    # Root may read every file, and pytest's own folders let no other user in.
    other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        file = Path(folder) / "settings.yaml"
        file.touch(mode=0)
        command = [binary(), "serve", "--config", file]
        try:
            refused = subprocess.run(command, capture_output=True, text=True, timeout=60, **other)
        except PermissionError:
            pytest.skip("the command lies where other users may not run it")
        assert refused.returncode == EX_USAGE
        assert f"{file} cannot be read: Permission denied" in refused.stderr


def test_an_empty_file_is_valid(tmp_path):
    file = tmp_path / "settings.yaml"
    file.touch()
    assert printed("--config", file) == printed()


def test_variables_of_kubernetes_services_are_ignored():
    links = {
        "SIDELIGHT_SERVICE_HOST": "10.0.0.7",
        "SIDELIGHT_SERVICE_PORT_GRPC": "50051",
        "SIDELIGHT_PORT": "tcp://10.0.0.7:50051",
        "SIDELIGHT_PORT_50051_TCP_ADDR": "10.0.0.7",
    }
    assert printed(environment=links) == printed()


def test_short_and_long_help():
    short = serve("--help").stdout
    everything = serve("--help-all").stdout
    assert "--max-sessions" in short and "--guards-pings-per-second" not in short
    assert "--max-sessions" in everything and "--guards-pings-per-second" in everything
    assert max(map(len, short.splitlines())) <= 90


def test_the_version_is_printed():
    assert serve("--version").stdout == sidelight("--version").stdout.decode()


def test_the_example_contains_the_defaults():
    example = REPOSITORY / "deploy/sidelight.yaml"
    assert sidelight("settings", "--example").stdout.decode() == example.read_text()
    document = yaml.safe_load(example.read_text())
    assert all(section is None for section in document.values())
    assert printed("--config", example) == printed()


def test_the_page_has_every_setting():
    page = (REPOSITORY / "docs/reference/configuration.md").read_text()
    assert sidelight("settings", "--markdown").stdout.decode() == page
    keys = re.findall(r"^\| `([a-z0-9.-]+)` \|", page, flags=re.MULTILINE)
    assert keys == list(printed())


def test_a_setting_is_described_by_its_key():
    text = sidelight("settings", "limits.max-load").stdout.decode()
    assert "--max-load" in text and "SIDELIGHT_LIMITS_MAX_LOAD" in text
    said = sidelight("settings", "max-load", fails=True).stderr.decode()
    assert "Did you mean limits.max-load?" in said
