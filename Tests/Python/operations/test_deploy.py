"""The files of deploy/, as far as they can be checked here: systemd's own tools read the unit,
Kubernetes' and Envoy's own messages the manifests, and the server starts with the arguments in
them. HAProxy and Envoy run, in test_proxies.py."""

import base64
import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import grpc
import pytest
import yaml
from grpc_health.v1 import health_pb2, health_pb2_grpc

from sidelight_testing import images
from sidelight_testing.contract import REPOSITORY, service
from sidelight_testing.prometheus import needs
from sidelight_testing.server import Server, binary
from sidelight_testing.session import Session, pipeline

DEPLOY = REPOSITORY / "deploy"
UNIT = DEPLOY / "systemd/sidelight.service"
MANIFEST = DEPLOY / "kubernetes/sidelight.yaml"
ENVOY_MESSAGES = REPOSITORY / ".venv/envoy"
# Where dev/build --static puts it.
STATIC_BINARY = Path(
    os.environ.get("SIDELIGHT_STATIC_BINARY", REPOSITORY / ".build-static/release/sidelight")
)
# systemd's own scale, of 10; what is left is the network, which is what the server is for.
MAX_EXPOSED = 2.0


def unit_settings() -> dict[str, str]:
    text = UNIT.read_text().replace("\\\n", " ")
    return dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))


def run(*command: object, **options: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(each) for each in command], capture_output=True, text=True, timeout=60, **options
    )


# systemd


@needs("systemd-analyze")
def test_systemd_accepts_the_unit(tmp_path):
    copy = tmp_path / UNIT.name
    # It looks whether the command is there.
    copy.write_text(UNIT.read_text().replace("/usr/bin/sidelight", str(binary())))
    found = run("systemd-analyze", "verify", "--man=no", copy)
    assert found.returncode == 0, found.stderr
    assert UNIT.name not in found.stderr, found.stderr


@needs("systemd-analyze")
def test_the_unit_restricts_the_server():
    threshold = f"--threshold={int(10 * MAX_EXPOSED)}"
    found = run("systemd-analyze", "security", "--offline=yes", threshold, UNIT)
    assert found.returncode == 0, found.stdout


def test_the_unit_waits_longer_than_the_server_takes_to_drain(tmp_path):
    unit, text = unit_settings(), (DEPLOY / "systemd/sidelight.yaml").read_text()
    settings = yaml.safe_load(text)
    grace = float(settings["shutdown"]["grace"].removesuffix("s"))
    assert float(unit["TimeoutStopSec"]) > grace + 5
    assert unit["KillSignal"] == "SIGTERM"
    # The socket's folder is the unit's, and its owner the user of sysusers.conf.
    assert f"unix:/run/{unit['RuntimeDirectory']}/grpc.sock" in settings["listen"]
    assert f"\nu {unit['User']} - " in (DEPLOY / "systemd/sysusers.conf").read_text()
    path = "/etc/sidelight/sidelight.yaml"
    assert unit["ExecStart"] == f"/usr/bin/sidelight serve --config {path}"
    copy = tmp_path / "sidelight.yaml"
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:0", text)
    copy.write_text(text.replace("/run/sidelight", str(tmp_path)))
    assert_starts(["serve", "--config", str(copy)], {}, listening=2)


# The program of the packages, which `dev/test packages` installs.

needs_static_binary = pytest.mark.skipif(
    not STATIC_BINARY.is_file(), reason=f"{STATIC_BINARY.name} is not built by dev/build --static"
)


@needs_static_binary
def test_the_static_binary_runs_in_an_empty_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SIDELIGHT_BINARY", str(STATIC_BINARY))
    for name in list(os.environ):
        if name != "SIDELIGHT_BINARY":
            monkeypatch.delenv(name)
    with Server() as server, grpc.insecure_channel(server.addresses["tcp"]) as channel:
        request = health_pb2.HealthCheckRequest()
        answer = health_pb2_grpc.HealthStub(channel).Check(request, timeout=60)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
        with Session(service.FrameFilterStub(channel), pipeline=pipeline("colorInvert")) as session:
            session.send_frame(images.noise("I420", 64, 48))
            assert len(session.finish().frames) == 1
        assert server.terminate() == 0, server.log


# Kubernetes


def manifests() -> list[dict]:
    return list(yaml.safe_load_all(MANIFEST.read_text()))


def unknown_fields(value: object, kind: str, path: str) -> list[str]:
    """Fields that Kubernetes' own client does not know, by their paths."""
    from kubernetes import client

    if inner := re.fullmatch(r"List\[(.*)\]", kind, re.IGNORECASE):
        assert isinstance(value, list), path
        return [
            name
            for index, each in enumerate(value)
            for name in unknown_fields(each, inner[1], f"{path}[{index}]")
        ]
    model = getattr(client, kind, None)
    if model is None:
        return []
    assert isinstance(value, dict), path
    types = {model.attribute_map[name]: each for name, each in model.openapi_types.items()}
    found = []
    for name, each in value.items():
        here = f"{path}.{name}"
        found += unknown_fields(each, types[name], here) if name in types else [here]
    return found


@pytest.mark.parametrize(
    "each", manifests(), ids=lambda each: f"{each['kind']} {each['metadata']['name']}"
)
def test_kubernetes_knows_every_field(each):
    from kubernetes import client

    group, _, version = each["apiVersion"].rpartition("/")
    model = f"{version[0].upper()}{version[1:]}{each['kind']}"
    assert group in (
        "", "apps", "policy", "autoscaling", "networking.k8s.io", "batch", "rbac.authorization.k8s.io")
    assert unknown_fields(each, model, each["kind"]) == []
    # Types, and what must be there.
    assert getattr(client, model).from_dict(each) is not None


def test_an_unknown_kubernetes_field_is_an_error():
    deployment = manifests()[0]
    deployment["spec"]["template"]["spec"]["containers"][0]["livenesProbe"] = {}
    assert unknown_fields(deployment, "V1Deployment", "D") == [
        "D.spec.template.spec.containers[0].livenesProbe"
    ]


def test_all_manifests_select_the_same_pods():
    deployment, *others = manifests()
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    selectors = [deployment["spec"]["selector"]["matchLabels"]]
    for each in others:
        match each["kind"]:
            case "Service":
                selectors.append(each["spec"]["selector"])
            case "PodDisruptionBudget":
                selectors.append(each["spec"]["selector"]["matchLabels"])
            case "NetworkPolicy":
                selectors.append(each["spec"]["podSelector"]["matchLabels"])
            case "HorizontalPodAutoscaler":
                assert each["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    assert selectors == [labels] * 5


def test_the_pods_grace_period_is_longer_than_the_drain():
    pod = manifests()[0]["spec"]["template"]["spec"]
    [container] = pod["containers"]
    [grace] = [each for each in container["args"] if each.startswith("--shutdown-grace=")]
    *_, wait = container["lifecycle"]["preStop"]["exec"]["command"]
    spare = pod["terminationGracePeriodSeconds"] - float(grace.partition("=")[2]) - float(wait)
    assert spare >= 5


def test_the_server_starts_with_the_pods_arguments_and_answers_its_probes(tmp_path):
    [container] = manifests()[0]["spec"]["template"]["spec"]["containers"]
    key = base64.b64encode(os.urandom(32)).decode()
    (tmp_path / "keys").write_text(f"fleet:{key}\n")
    paths = [
        container[probe]["httpGet"]["path"]
        for probe in ("startupProbe", "livenessProbe", "readinessProbe")
    ]
    assert_starts(container["args"], {"/etc/sidelight": tmp_path}, paths)


KUBECTL = """\
#!/bin/sh
case $1 in
  get) echo "$PODS" ;;
  *) echo "$3 $7" ;;
esac
"""
CURL = """\
#!/bin/sh
case "$*" in
  *"//[fd00::1]:"*) echo sidelight_sessions 2 ;;
  *) PATH=${PATH#*:} exec curl "$@" ;;
esac
"""
# Whether it is ready, its name, address and cost.
PODS = [
    "True new 127.0.0.1 ",
    "True changed 127.0.0.1 7",
    "True same 127.0.0.1 1",
    "True six fd00::1 1",
    "False starting 127.0.0.2 ",
]


def test_the_sessions_of_a_pod_become_its_deletion_cost(tmp_path):
    [job] = [each for each in manifests() if each["kind"] == "CronJob"]
    pod = job["spec"]["jobTemplate"]["spec"]["template"]
    *shell, script = pod["spec"]["containers"][0]["command"]
    [account] = [each for each in manifests() if each["kind"] == "ServiceAccount"]
    assert pod["spec"]["serviceAccountName"] == account["metadata"]["name"]
    [policy] = [each for each in manifests() if each["kind"] == "NetworkPolicy"]
    assert {"podSelector": {"matchLabels": pod["metadata"]["labels"]}} in policy["spec"]["ingress"][1]["from"]
    for name, text in {"kubectl": KUBECTL, "curl": CURL}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    with Server("--admin", "127.0.0.1:0") as server, grpc.insecure_channel(server.addresses["tcp"]) as channel:
        _, _, port = server.addresses["admin"].rpartition(":")
        with Session(service.FrameFilterStub(channel), pipeline=pipeline("colorInvert")) as session:
            # Pods have the port of the manifest.
            assert script.count(":9464/") == 1
            command = [*shell, script.replace(":9464/", f":{port}/")]
            done, failed = (
                run(*command, env=os.environ | {
                    "PATH": f"{tmp_path}:{os.environ['PATH']}", "PODS": "\n".join(pods)})
                for pods in (PODS, ["True silent 127.0.0.2 ", *PODS])
            )
            session.finish()
    assert done.returncode == 0, done.stderr
    cost = "controller.kubernetes.io/pod-deletion-cost"
    assert sorted(done.stdout.splitlines()) == [f"changed {cost}=1", f"new {cost}=1", f"six {cost}=2"]
    # One that does not answer keeps none of the others from its cost.
    assert failed.returncode != 0 and failed.stderr == "silent does not tell its sessions\n"
    assert sorted(failed.stdout.splitlines()) == sorted(done.stdout.splitlines())


@needs("promtool")
def test_the_adapter_provides_the_autoscalers_metric(tmp_path):
    adapter = yaml.safe_load((DEPLOY / "kubernetes/prometheus-adapter.yaml").read_text())
    [rule] = adapter["rules"]["custom"]
    series = rule["seriesQuery"].partition("{")[0]
    [scaler] = [each for each in manifests() if each["kind"] == "HorizontalPodAutoscaler"]
    [metric] = scaler["spec"]["metrics"]
    assert metric["pods"]["metric"]["name"] == rule["name"]["as"]
    filled = {"Series": series, "LabelMatchers": 'namespace="n",pod=~"a|b"', "GroupBy": "pod"}
    query = re.sub(r"<<\.(\w+)>>", lambda found: filled[found[1]], rule["metricsQuery"])
    of, full = '{namespace="n",pod="a"', '{namespace="n",pod="b"'
    inputs = {
        f"{series}{of}}}": "0.5x20",
        f"sidelight_sessions{of}}}": "10x20",
        # One a second, of two limits that more pods change, and of one that they do not.
        f'sidelight_sessions_refused_total{of},limit="max_load"}}': "0+10x20",
        f'sidelight_sessions_refused_total{of},limit="max_sessions"}}': "0+5x20",
        f'sidelight_sessions_refused_total{of},limit="max_sessions_per_caller"}}': "0+70x20",
        # A pod with a low load, and as many sessions as it may have.
        f"{series}{full}}}": "0.05x20",
        f"sidelight_sessions{full}}}": "10x20",
        f'sidelight_sessions_refused_total{full},limit="max_sessions"}}': "0+300x20",
    }
    cases = [
        {"expr": query, "eval_time": "5m",
         "exp_samples": [
             {"labels": '{pod="a"}', "value": 0.56}, {"labels": '{pod="b"}', "value": 0.65}]},
        {"expr": rule["seriesQuery"], "eval_time": "5m",
         "exp_samples": [
             {"labels": f"{series}{of}}}", "value": 0.5},
             {"labels": f"{series}{full}}}", "value": 0.05}]},
    ]
    # A scrape takes 15 s, so the rates are 1 a second.
    test = {
        "interval": "15s", "promql_expr_test": cases,
        "input_series": [{"series": name, "values": values} for name, values in inputs.items()],
    }
    path = tmp_path / "test.yml"
    path.write_text(yaml.safe_dump({"rule_files": [], "tests": [test]}))
    found = run("promtool", "test", "rules", path)
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_server_has_the_metrics_of_the_autoscaler():
    with Server("--admin", "127.0.0.1:0") as server:
        metrics = get(server.addresses["admin"], "/metrics")
        for name in (
            "sidelight_scheduler_load", "sidelight_sessions",
            'sidelight_sessions_refused_total{limit="max_load"}',
            'sidelight_sessions_refused_total{limit="max_sessions"}',
        ):
            assert f"\n{name} " in metrics


# Envoy

READ_ENVOY = """
import importlib, json, pkgutil, sys
sys.path.append(sys.argv[1])
document = json.load(sys.stdin)

def kinds(value):
    if isinstance(value, dict):
        for key, each in value.items():
            if key == "@type":
                yield each
            yield from kinds(each)
    elif isinstance(value, list):
        for each in value:
            yield from kinds(each)

# Whatever is named has to be there before it can be read.
from google.protobuf import json_format, symbol_database
for kind in set(kinds(document)):
    package = kind.rpartition("/")[2].rpartition(".")[0]
    folder = importlib.import_module(package)
    for module in pkgutil.iter_modules(folder.__path__):
        importlib.import_module(f"{package}.{module.name}")
from envoy.config.bootstrap.v3.bootstrap_pb2 import Bootstrap
message = json_format.ParseDict(document, Bootstrap())
print([each.name for each in message.static_resources.clusters])
"""


def read_envoy(document: dict) -> subprocess.CompletedProcess:
    # Its messages bring copies of packages that are loaded here.
    return run(sys.executable, "-c", READ_ENVOY, ENVOY_MESSAGES, input=json.dumps(document))


@pytest.fixture
def envoy() -> dict:
    if not ENVOY_MESSAGES.is_dir():
        pytest.skip("Envoy's messages are not installed (dev/python does)")
    return yaml.safe_load((DEPLOY / "envoy/envoy.yaml").read_text())


def test_envoy_knows_every_field(envoy):
    found = read_envoy(envoy)
    assert found.returncode == 0, found.stderr
    assert found.stdout == "['sidelight', 'sidelight-groups']\n"


def test_an_unknown_envoy_field_is_an_error(envoy):
    envoy["static_resources"]["clusters"][0]["circuit_braker"] = {}
    found = read_envoy(envoy)
    assert found.returncode != 0 and "circuit_braker" in found.stderr


def get(address: str, path: str) -> str:
    """The page at a path; fails unless its status is fine."""
    with urllib.request.urlopen(f"http://{address}{path}", timeout=60) as answer:
        return answer.read().decode()


def assert_starts(
    arguments: list[str], folders: dict[str, Path], probes: list[str] = (), listening: int = 0
) -> None:
    """Starts the command as some file says, but with ports of the system's choice and folders of
    ours. `listening` counts the addresses, if the arguments do not name them."""
    given = []
    for argument in arguments:
        argument = re.sub(r"\b(127\.0\.0\.1|0\.0\.0\.0):\d+", "127.0.0.1:0", argument)
        for folder, ours in folders.items():
            argument = argument.replace(folder, str(ours))
        given.append(argument)
    assert given[0] == "serve"
    started = subprocess.Popen([binary(), *given], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        expected = (listening or sum("listen" in each for each in given)) + 1
        lines = [started.stdout.readline().decode() for _ in range(expected)]
        said = dict(reversed(line.strip().split(" on ")) for line in lines if " on " in line)
        assert len(said) == expected, started.communicate(timeout=60)
        [admin] = [address for address, what in said.items() if what == "admin"]
        for path in probes:
            get(admin, path)
        started.terminate()
        assert started.wait(timeout=60) == 0
    finally:
        started.kill()
        started.wait()
        started.stdout.close()
        started.stderr.close()
