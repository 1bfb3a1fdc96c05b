"""Metrics, scraped by Prometheus."""

import json
import re
import subprocess
import time
import urllib.request

import grpc
import pytest
import yaml

from sidelight_testing import images
from sidelight_testing.contract import REPOSITORY, service
from sidelight_testing.contract import session as messages
from sidelight_testing.prometheus import Prometheus, needs
from sidelight_testing.server import Server
from sidelight_testing.session import Session, pipeline

RULES = REPOSITORY / "deploy/prometheus"
DASHBOARDS = sorted((REPOSITORY / "deploy/grafana").glob("*.json"))
RUNBOOK = "docs/guides/runbook.md"


@pytest.fixture(scope="module")
def measured():
    """A server with an admin endpoint that has served sessions, and their clients' outcomes."""
    with Server("--admin", "127.0.0.1:0", "--max-sessions-per-caller", "2") as server:
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            totals = have_every_kind_of_frame(service.FrameFilterStub(channel))
        yield server, totals
        assert server.terminate() == 0, server.log


def have_every_kind_of_frame(stub) -> dict[str, int]:
    """Runs sessions that end in many ways; returns the sums of the outcomes that they received."""
    picture = images.noise("RGB24", 320, 180)
    slow = pipeline(*[("gaussianBlur", {"radius": 4 + index}) for index in range(24)])
    totals: dict[str, int] = {}

    def count(transcript) -> None:
        stats = transcript.stats[-1]
        assert stats.final and stats.in_flight == 0
        # The outcomes that the client has counted, frame by frame and notice by notice.
        seen = {"filtered": 0, "passed_through": 0, "degraded": 0}
        for frame in transcript.frames:
            name = messages.Disposition.Name(frame.disposition).removeprefix("DISPOSITION_").lower()
            seen[name] += 1
        for drop in transcript.dropped:
            name = messages.DropReason.Name(drop.reason).removeprefix("DROP_REASON_").lower()
            seen[name] = seen.get(name, 0) + drop.count
        assert sum(seen.values()) == stats.received
        for name in ("bytes_in", "bytes_out"):
            seen[name] = getattr(stats, name)
        for name, number in seen.items():
            totals[name] = totals.get(name, 0) + number

    with Session(stub, pipeline=pipeline("sepiaTone")) as session:
        for _ in range(20):
            session.send_frame(picture)
            session.receive_until("frame")
        session.send_frame(images.messages.Image())
        session.send_frame(picture, budget_us=1)
        count(session.finish())
    with Session(stub) as session:
        for _ in range(7):
            session.send_frame(picture)
            session.receive_until("frame")
        session.send(pause=messages.Pause())
        session.send_frame(picture)
        count(session.finish())
    with Session(stub, pipeline=slow) as session:
        # On a busy machine the server may keep up with a burst.
        for _ in range(50):
            for _ in range(60):
                session.send_frame(picture)
            session.send(ping=messages.Ping())
            session.receive_until("pong")
            reasons = {each.reason for each in session.transcript.dropped}
            if {messages.DROP_REASON_SUPERSEDED, messages.DROP_REASON_NO_CREDIT} <= reasons:
                break
        count(session.finish())
    with Session(stub), Session(stub):
        refused = Session(stub, opens=False)
        refused.send(open=messages.Open())
        assert refused.fail().code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    for reason in ("invalid_frame", "late_on_arrival", "paused", "superseded", "no_credit"):
        assert totals.get(reason), totals
    return totals


def get(server: Server, path: str) -> str:
    with urllib.request.urlopen(f"http://{server.addresses['admin']}{path}", timeout=60) as answer:
        return answer.read().decode()


@needs("prometheus")
def test_sums_of_outcomes_match_the_clients_counts(measured):
    server, totals = measured
    with Prometheus(server.addresses["admin"]) as prometheus:
        # A later scrape that fails hides the series.
        scrape = prometheus.wait_for_scrape_after(time.time())
        scraped = {
            (each["metric"]["outcome"], each["metric"]["reason"]): int(each["value"][1])
            for each in prometheus.query("sidelight_frames_total", scrape)
        }
        told = {
            ("dropped", name): count
            for name, count in totals.items()
            if name not in ("filtered", "passed_through", "degraded", "bytes_in", "bytes_out")
        }
        for name in ("filtered", "passed_through", "degraded"):
            told["" + name, "none"] = totals[name]
        assert {key: count for key, count in scraped.items() if count} == {
            key: count for key, count in told.items() if count
        }
        for direction in ("in", "out"):
            expression = f'sidelight_frame_bytes_total{{direction="{direction}"}}'
            [found] = prometheus.query(expression, scrape)
            assert int(found["value"][1]) == totals[f"bytes_{direction}"]
        # Every frame has its time, too; a dropped frame's ends when the client is notified.
        [found] = prometheus.query("sum(sidelight_frame_seconds_count)", scrape)
        assert int(found["value"][1]) == sum(told.values())
        [found] = prometheus.query("sidelight_sessions_opened_total", scrape)
        assert int(found["value"][1]) == 5
        [found] = prometheus.query(
            'sidelight_sessions_refused_total{limit="max_sessions_per_caller"}', scrape
        )
        assert int(found["value"][1]) == 1


@needs("prometheus")
def test_prometheus_evaluates_every_query_of_dashboard_and_rules(measured):
    server, _ = measured
    expressions = [
        re.sub(r"\$(instance|job)", ".*", target["expr"].replace("$__rate_interval", "1m"))
        for dashboard in DASHBOARDS
        for panel in json.loads(dashboard.read_text())["panels"]
        for target in panel["targets"]
    ]
    assert len(expressions) > 35
    assert not any("$" in each for each in expressions)
    known = set(re.findall(r"^# TYPE (\S+) ", get(server, "/metrics"), re.MULTILINE))
    known.add("sidelight_trace_spans_total")  # where something is traced
    known.add("sidelight_filter_process_restarts_total")  # test_filter_processes.py reads it
    known.add("sidelight_worker_starts")  # of workers: test_workers.py reads it
    known.add("sidelight_fleet_connected")  # with etcd: test_shared_state.py reads it
    rules = (RULES / "sidelight.rules.yml").read_text()
    known |= set(re.findall(r"- record: (\S+)", rules))
    for name in re.findall(r"\b(?:sidelight|process)[_:][a-z0-9_:]+\b", " ".join(expressions) + rules):
        assert re.sub(r"_(bucket|count|sum)$", "", name) in known, name
    with Prometheus(server.addresses["admin"]) as prometheus:
        prometheus.wait_for_scrape_after(time.time())
        for expression in expressions:
            prometheus.query(expression)


@needs("promtool")
def test_promtool_accepts_the_metrics(measured):
    server, _ = measured
    checked = subprocess.run(
        ["promtool", "check", "metrics"],
        input=get(server, "/metrics"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "No description" not in get(server, "/metrics")


@needs("promtool")
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "config", "prometheus.yml"),
        ("check", "rules", "sidelight.rules.yml"),
        ("test", "rules", "sidelight.rules.test.yml"),
        ("test", "rules", "sidelight.objectives.test.yml"),
    ],
)
def test_the_alerts_fire_when_they_should(arguments):
    checked = subprocess.run(
        ["promtool", *arguments], cwd=RULES, capture_output=True, text=True, timeout=60, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_grafanas_schema_has_every_field_of_the_dashboards(path):
    written = json.loads(path.read_text())
    assert read_by_grafana(written) == written
    written["panels"][0]["gridPoss"] = {}
    assert read_by_grafana(written) != written


def read_by_grafana(written: dict) -> dict:
    """A dashboard without the fields that Grafana does not know."""
    from grafana_foundation_sdk.cog import encoder, plugins
    from grafana_foundation_sdk.models.dashboard import Dashboard

    plugins.register_default_plugins()
    return common(written, json.loads(encoder.JSONEncoder().encode(Dashboard.from_json(written))))


def common(written: object, read: object) -> object:
    """What was read, without defaults that were not written."""
    if isinstance(written, dict) and isinstance(read, dict):
        return {key: common(written[key], read[key]) for key in written if key in read}
    if isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        return [common(*pair) for pair in zip(written, read)]
    return read


def test_every_alert_has_its_section_in_the_runbook():
    groups = yaml.safe_load((RULES / "sidelight.rules.yml").read_text())["groups"]
    alerts = {
        rule["alert"]: rule["annotations"]["runbook_url"]
        for group in groups
        for rule in group["rules"]
        if "alert" in rule
    }
    assert alerts == {name: f"{RUNBOOK}#{name.lower()}" for name in alerts}
    sections = re.split(r"^## (\w+)$", (REPOSITORY / RUNBOOK).read_text(), flags=re.MULTILINE)[1:]
    assert set(sections[::2]) == set(alerts)
    for name, text in zip(sections[::2], sections[1::2]):
        assert re.findall(r"^- \*\*(.+?)\*\*: ", text, re.MULTILINE) == [
            "Meaning", "First look", "Remedy",
        ], name
    # The panels that the runbook names.
    titles = {
        panel["title"]
        for each in DASHBOARDS
        for panel in json.loads(each.read_text())["panels"]
    }
    for name in re.findall(r'"([A-Z][^"]+)"', (REPOSITORY / RUNBOOK).read_text()):
        assert any(title.startswith(name) for title in titles), name


def test_client_input_does_not_become_labels(measured):
    server, _ = measured
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        with Session(service.FrameFilterStub(channel), label='evil"} 1\nfake 2') as session:
            session.finish()
    text = get(server, "/metrics")
    assert "evil" not in text and "fake" not in text
    for line in text.splitlines():
        assert re.fullmatch(r'#.*|[a-z_]+(\{([a-z_]+="[^"\\]*",?)+\})? \S+', line), line
