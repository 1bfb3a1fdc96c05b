"""SIGHUP, and a change of their files, reload the settings without affecting sessions."""

import base64
import json
import signal
import time
import urllib.request

import grpc
import pytest

from sidelight_testing import images
from sidelight_testing.contract import frame_filter, service
from sidelight_testing.contract import session as messages
from sidelight_testing.server import Server
from sidelight_testing.session import Session, pipeline

WAIT_SECONDS = 60
NEVER = messages.DROP_POLICY_NEVER_DROP


class Reloading(Server):
    """A server with a file of settings and an admin endpoint."""

    def __init__(self, file, *options: str) -> None:
        super().__init__(
            *("--config", str(file), "--admin", "127.0.0.1:0", "--log-format", "json", *options)
        )

    def entries(self, message: str) -> list[dict]:
        """Returns the log entries with a message."""
        lines = [json.loads(line) for line in self.log.splitlines() if line.startswith("{")]
        return [line for line in lines if line["message"] == message]

    def reload(self, message: str = "settings reloaded") -> list[dict]:
        """Sends the signal, and waits for its log entry, which it returns."""
        before = len(self.entries(message))
        self.process.send_signal(signal.SIGHUP)
        return self.wait_for(message, before)

    def wait_for(self, message: str, before: int) -> list[dict]:
        """Waits for a log entry after the first ones, and returns it."""
        deadline = time.monotonic() + WAIT_SECONDS
        while len(entries := self.entries(message)) == before:
            assert self.process.poll() is None and time.monotonic() < deadline, self.log
            time.sleep(0.02)
        return entries[before:]

    def reloads(self) -> dict[str, int]:
        """The number of reloads by outcome, as Prometheus reads it."""
        with urllib.request.urlopen(
            f"http://{self.addresses['admin']}/metrics", timeout=60
        ) as answer:
            lines = answer.read().decode().splitlines()
        name = "sidelight_configuration_reloads_total"
        values = [line.rpartition(" ") for line in lines if line.startswith(name)]
        return {line.split('"')[1]: int(float(value)) for line, _, value in values}


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_text("limits: {max-sessions: 2}\n")
    return file


@pytest.fixture
def reloading(file):
    with Reloading(file) as server:
        yield server
        assert server.terminate() == 0, server.log


@pytest.fixture
def stub(reloading):
    with grpc.insecure_channel(reloading.addresses["tcp"]) as channel:
        yield service.FrameFilterStub(channel)


def max_sessions(stub) -> int:
    request = frame_filter.GetServerInfoRequest()
    return stub.GetServerInfo(request, timeout=60).limits.max_sessions


def test_limits_change_and_no_frame_is_lost(reloading, file, stub):
    with Session(stub, pipeline=pipeline("colorInvert"), drop_policy=NEVER) as session:
        for round in range(20):
            file.write_text(f"limits: {{max-sessions: {round + 3}}}\n")
            # Frames are on their way while the settings change.
            for _ in range(3):
                session.send_frame(images.noise("RGB24", 160, 120))
            reloading.reload()
            for _ in range(3):
                session.receive_until("frame")
            assert max_sessions(stub) == round + 3
        transcript = session.finish()
    assert transcript.stats[-1].filtered == len(session.sent) == 60
    assert not transcript.dropped and not transcript.errors
    assert reloading.reloads() == {"applied": 20, "refused": 0}


def test_changed_files_are_read_without_a_signal(tmp_path):
    # As Kubernetes changes mounted files: a link to a folder is replaced.
    def publish(version: int) -> None:
        folder = tmp_path / f"..{version}"
        folder.mkdir()
        (folder / "settings.yaml").write_text(f"limits: {{max-sessions: {version}}}\n")
        (tmp_path / "next").symlink_to(folder.name)
        (tmp_path / "next").rename(tmp_path / "..data")

    def write_key(number: int) -> None:
        secret = base64.b64encode(bytes([number]) * 32).decode()
        keys.write_text(f"key{number}:{secret}\n")

    publish(2)
    file, keys = tmp_path / "settings.yaml", tmp_path / "keys"
    file.symlink_to("..data/settings.yaml")
    write_key(1)
    with Reloading(file, "--resume-keys-file", str(keys)) as server:
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            stub = service.FrameFilterStub(channel)
            assert max_sessions(stub) == 2
            publish(3)
            server.wait_for("settings reloaded", 0)
            assert max_sessions(stub) == 3
        write_key(2)
        server.wait_for("settings reloaded", 1)
        keys.write_text("no key\n")
        server.wait_for("settings not reloaded", 0)
        assert server.terminate() == 0, server.log
        assert len(server.entries("settings reloaded")) == 2


def test_a_lower_limit_refuses_new_sessions_and_keeps_existing_ones(reloading, file, stub):
    with Session(stub, drop_policy=NEVER) as first, Session(stub, drop_policy=NEVER) as second:
        file.write_text("limits: {max-sessions: 1}\n")
        reloading.reload()
        third = Session(stub, opens=False)
        third.send(open=messages.Open())
        assert third.fail().code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        for session in (first, second):
            session.send_frame(images.noise("RGB24", 64, 64))
            assert session.finish().stats[-1].passed_through == 1


def test_the_log_level_changes(reloading, file, stub):
    def opened() -> int:
        with Session(stub) as session:
            session.finish()
        return len(reloading.entries("session opened"))

    assert opened() == 1
    file.write_text("log: {level: notice}\n")
    reloading.reload()
    assert opened() == 1
    file.write_text("log: {level: info}\n")
    reloading.reload()
    assert opened() == 2


def test_settings_that_require_a_restart_are_reported_and_not_applied(reloading, file, stub):
    file.write_text("limits: {max-sessions: 9}\ntransport: {max-message-bytes: 1MiB}\n")
    (reloaded,) = reloading.reload()
    assert reloaded["changed"] == ["limits.max-sessions=9 sessions"]
    (waiting,) = reloading.entries("setting requires a restart")
    assert waiting["setting"] == "transport.max-message-bytes"
    assert (waiting["stays"], waiting["wanted"]) == ("64MiB", "1MiB")
    assert waiting["origin"] == f"{file}:2"
    limits = stub.GetServerInfo(frame_filter.GetServerInfoRequest(), timeout=60).limits
    assert (limits.max_sessions, limits.max_message_bytes) == (9, 64 << 20)


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("limits:\n  max-sessions: 50\n  max-load: many\n", ":3: limits.max-load is many"),
        ("limits: {max-sessions: 50}\nguards: {pings-per-secnd: 1}\n", "did you mean guards.pings-per-second?"),
        ("limits: {max-sessions: 50", "invalid YAML"),
        (None, "No such file or directory"),
    ],
    ids=["value", "key", "cut", "gone"],
)
def test_a_file_with_an_error_changes_nothing(reloading, file, stub, text, complaint):
    file.unlink()
    if text is not None:
        file.write_text(text)
    (refused,) = reloading.reload("settings not reloaded")
    assert complaint in refused["fault"] and refused["level"] == "error"
    assert max_sessions(stub) == 2
    assert reloading.reloads() == {"applied": 0, "refused": 1}
    # A corrected file is applied afterwards.
    file.write_text("limits: {max-sessions: 3}\n")
    reloading.reload()
    assert max_sessions(stub) == 3


def test_flags_override_the_file_after_a_reload(file):
    with Reloading(file, "--max-sessions", "7") as server:
        file.write_text("limits: {max-sessions: 3}\n")
        server.reload()
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            assert max_sessions(service.FrameFilterStub(channel)) == 7
        assert server.terminate() == 0, server.log


def test_keys_are_rotated_and_sessions_resume(tmp_path):
    old, new = (f"{name}:{'QUJD' * 11}{end}" for name, end in (("old", "QQ=="), ("new", "Qg==")))
    keys, file = tmp_path / "keys", tmp_path / "settings.yaml"
    keys.write_text(old + "\n")
    file.write_text(f"resume: {{keys-file: '{keys}'}}\n")
    with Reloading(file) as server, grpc.insecure_channel(server.addresses["tcp"]) as channel:
        stub = service.FrameFilterStub(channel)

        def token(**fields) -> bytes:
            with Session(stub, **fields) as session:
                return session.opened.resume_token

        first = token(pipeline=pipeline("colorInvert"))
        keys.write_text(f"{new}\n{old}\n")
        (reloaded,) = server.reload()
        assert "resume.keys-file" in str(reloaded["changed"])
        second = token(resume_token=first)
        keys.write_text(new + "\n")
        server.reload()
        assert token(resume_token=second)
        refused = Session(stub, opens=False)
        refused.send(open=messages.Open(resume_token=first))
        assert refused.fail().code() == grpc.StatusCode.FAILED_PRECONDITION
        assert "QUJD" not in server.log
        # A file that is broken leaves the keys as they are.
        keys.write_text("nonsense\n")
        server.reload("settings not reloaded")
        assert token(resume_token=second)
        assert server.terminate() == 0, server.log
