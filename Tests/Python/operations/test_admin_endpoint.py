"""The admin endpoint: probes, and the page in a browser."""

import concurrent.futures
import http.client
import json
import re
import select
import struct
import subprocess
import time
import urllib.error
import urllib.request

import grpc
import pytest

from sidelight_testing import images
from sidelight_testing.contract import service
from sidelight_testing.contract import session as messages
from sidelight_testing.process import wait_until
from sidelight_testing.prometheus import needs
from sidelight_testing.server import Server
from sidelight_testing.session import Session, pipeline
from sidelight_testing.tokens import Issuer

WAIT_SECONDS = 60
LABEL = "Ada's <script>document.title='owned'</script>"


@pytest.fixture
def server():
    with Server("--admin", "127.0.0.1:0") as running:
        yield running


def get(
    server: Server, path: str, method: str = "GET", token: str | None = None
) -> tuple[int, str, http.client.HTTPMessage]:
    """Status, text and headers of an answer."""
    request = urllib.request.Request(
        f"http://{server.addresses['admin']}{path}", method=method,
        headers={"Authorization": f"Bearer {token}"} if token else {},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers


def read(server: Server, path: str) -> bytes:
    """The content of an answer."""
    url = f"http://{server.addresses['admin']}{path}"
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


def test_probes_and_version(server):
    assert get(server, "/livez")[:2] == (200, "ok\n")
    assert get(server, "/readyz")[:2] == (200, "serving\n")
    status, text, headers = get(server, "/version")
    assert status == 200 and headers["content-type"] == "application/json"
    assert json.loads(text)["name"] == "sidelight"
    assert get(server, "/metrics")[2]["content-type"].startswith("text/plain; version=0.0.4")
    assert get(server, "/nothing")[0] == 404
    assert get(server, "/metrics", method="POST")[0] in (404, 405)


def test_a_draining_server_is_alive_and_not_ready(server):
    # Frames that take long keep the server draining.
    slow = pipeline(*[("gaussianBlur", {"radius": 4 + index / 8}) for index in range(64)])
    never = messages.DROP_POLICY_NEVER_DROP
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        stub = service.FrameFilterStub(channel)
        with Session(stub, pipeline=slow, drop_policy=never, mailbox_depth=4) as session:
            for _ in range(4):
                session.send_frame(images.noise("RGB24", 1280, 720))
            session.receive_until("frame")
            server.process.terminate()
            session.receive_until("state")
            assert get(server, "/readyz")[:2] == (503, "draining\n")
            assert get(server, "/livez")[0] == 200
            assert json.loads(get(server, "/status.json")[1])["phase"] == "draining"
            session.half_close()
    assert server.process.wait(timeout=60) == 0, server.log


def test_the_status_contains_the_sessions(server):
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        stub = service.FrameFilterStub(channel)
        with Session(
            stub, pipeline=pipeline("sepiaTone"), label=LABEL, participant="ana"
        ) as session:
            session.send_frame(images.noise("RGB24", 64, 48))
            session.receive_until("frame")
            session.send_frame(images.messages.Image())
            session.receive_until("dropped")
            status = json.loads(get(server, "/status.json")[1])
            [own] = status["sessions"]
            assert own["id"] == session.opened.session_id
            assert own["label"] == LABEL and own["participant"] == "ana"
            assert own["state"] == "running" and own["pipeline"].startswith("sepiaTone")
            assert own["picture"] == "64x48 rgb24"
            assert own["latency"] > 0
            assert own["frames"]["filtered"] == 1
            assert own["frames"]["dropped"] == {"invalid_frame": 1}
            session.finish()
    status = json.loads(get(server, "/status.json")[1])
    assert status["sessions"] == []
    assert status["frames"]["filtered"] == 1, "what is over still counts"


def test_a_session_and_a_caller_can_have_another_log_level(server):
    bad = images.messages.Image()
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        stub = service.FrameFilterStub(channel)
        with Session(stub) as watched, Session(stub) as other:
            for session in (watched, other):
                session.send_frame(bad)
                session.receive_until("dropped")
            id = watched.opened.session_id
            assert get(server, f"/log?session={id}&level=debug", "PUT")[:2] == (200, "ok\n")
            for session in (watched, other):
                session.send_frame(bad)
                session.receive_until("dropped")
            wait_until(lambda: "frame dropped" in server.log)
            dropped = [line for line in server.log.splitlines() if "frame dropped" in line]
            assert len(dropped) == 1 and id in dropped[0] and "invalidFrame" in dropped[0], dropped
            caller = json.loads(dropped[0])["caller"]
            assert get(server, f"/log?caller={caller}&level=trace&seconds=60", "PUT")[0] == 200
            other.send_frame(images.noise("RGB24", 16, 16))
            other.receive_until("frame")
            wait_until(lambda: "frame finished" in server.log)
    for query, problem in (
        ("level=loud", "level must be one of trace, debug"),
        ("level=debug&seconds=0", "seconds must be a whole number from 1 to 86400"),
        ("level=debug&session=a&caller=b", "name a session or a caller, not both"),
    ):
        status, text, _ = get(server, f"/log?{query}", "PUT")
        assert status == 400 and problem in text


def test_profiles(server):
    with concurrent.futures.ThreadPoolExecutor(1) as others:
        profile = others.submit(read, server, "/profile/cpu?seconds=2")
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            stub = service.FrameFilterStub(channel)
            blur = pipeline(("gaussianBlur", {"radius": 30}))
            never = messages.DROP_POLICY_NEVER_DROP
            with Session(stub, pipeline=blur, drop_policy=never) as session:
                while not profile.done():
                    session.send_frame(images.noise("RGB24", 640, 360))
                    session.receive_until("frame")
        data = profile.result()
    end = data.index(struct.pack("<3Q", 0, 1, 0), 40) // 8
    words = struct.unpack_from(f"<{end}Q", data)
    assert words[:5] == (0, 3, 0, 10_000, 0)
    samples, position = 0, 5
    while position < end:
        assert words[position] == 1 and 0 < words[position + 1] < 64
        samples, position = samples + 1, position + 2 + words[position + 1]
    assert samples > 5 and b"sidelight" in data[8 * end :] and b"[stack]" in data[8 * end :]
    assert get(server, "/profile/heap")[1].startswith("<malloc")
    assert get(server, "/profile/cpu?seconds=61")[0] == 400


def test_with_tokens_profiles_and_log_levels_are_for_operators(tmp_path):
    issuer = Issuer(tmp_path)
    with Server("--admin", "127.0.0.1:0", *issuer.options) as server:
        for token, status in (
            (None, 401), ("rubbish", 401), (issuer.token(scope="stream"), 403),
            (issuer.token(scope="operate"), 200),
        ):
            assert get(server, "/profile/heap", token=token)[0] == status
            assert get(server, "/log?level=info", "PUT", token=token)[0] == status
        assert get(server, "/livez")[0] == 200


def test_silent_and_invalid_requests_do_not_affect_the_server(server):
    host, port = server.addresses["admin"].split(":")
    connections = []
    for said in (b"", b"GET", b"\x00" * 4096, b"GET / HTTP/1.1\r\nx: " + b"x" * 200_000):
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        connection.connect()
        try:
            connection.sock.sendall(said)
        except OSError:
            pass  # The server may have had enough.
        connections.append(connection)
    # As Prometheus does, which keeps its connection.
    idle = http.client.HTTPConnection(host, int(port), timeout=60)
    idle.request("GET", "/livez")
    assert idle.getresponse().read() == b"ok\n"
    assert server.terminate() == 0, server.log
    for connection in [idle, *connections]:
        connection.close()


@needs("chromium")
def test_the_page_shows_live_figures(server, tmp_path):
    picture = images.noise("RGB24", 320, 180)
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        stub = service.FrameFilterStub(channel)
        slow = pipeline(*[("gaussianBlur", {"radius": 4 + index}) for index in range(8)])
        with (
            Session(stub, pipeline=pipeline("sepiaTone"), label=LABEL) as quick,
            Session(stub, pipeline=slow, label="slow") as outrun,
        ):
            browser = None
            deadline = time.monotonic() + 2 * WAIT_SECONDS
            while (browser is None or browser.poll() is None) and time.monotonic() < deadline:
                history = json.loads(get(server, "/status.json")[1])["history"]
                if browser is None and sum(second["delivered"] > 0 for second in history) > 2:
                    browser = open_page(server, tmp_path)
                quick.send_frame(picture)
                quick.receive_until("frame")
                for _ in range(3):
                    outrun.send_frame(picture)
                select.select([], [], [], 0.03)
            text, errors = browser.communicate(timeout=WAIT_SECONDS)
            assert browser.returncode == 0, errors
            quick.finish()
            outrun.finish()
    assert re.search(r'<span id="phase" class="badge serving">serving</span>', text), text
    body = re.search(r'<table id="sessions">.*?<tbody>(.*?)</tbody>', text, re.DOTALL)[1]
    assert body.count("<tr") == 2
    assert quick.opened.session_id in body and outrun.opened.session_id in body
    assert "Ada's &lt;script&gt;" in body, "what a client calls itself is text"
    assert "<title>Sidelight</title>" in text
    assert "gaussianBlur" in body and "320x180 rgb24" in body
    assert re.search(r'<b id="delivered">[1-9]', text) and re.search(r'<b id="median">[0-9]', text)
    reasons = re.search(r'<table id="reasons">.*?</table>', text, re.DOTALL)[0]
    assert "superseded" in reasons or "no credit" in reasons
    assert "Refused to" not in errors and "Uncaught" not in errors, errors


def open_page(server: Server, folder) -> subprocess.Popen:
    """Starts a browser that opens the page for a time, and then prints the page's content."""
    return subprocess.Popen(
        [
            "chromium",
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
            f"--user-data-dir={folder / 'browser'}",
            "--window-size=1400,900",
            "--virtual-time-budget=3000",
            "--dump-dom",
            f"http://{server.addresses['admin']}/",
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
