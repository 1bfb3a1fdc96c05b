"""Kubernetes on the machines of a fleet: three kubelets with containerd that run the objects in
`deploy/kubernetes` with the built image, and the drills that Kubernetes performs.

`build-kubernetes` builds Kubernetes 1.20 in a folder that later runs use again. Instead of a cluster's DNS, this
process follows the endpoints and answers for their name. kube-proxy does not run, because clients use
headless services only. The networks do not enforce the NetworkPolicy.

Processes, mounts and files end with the namespaces of this process, which `dev/bench` creates.
"""

import base64
import contextlib
import hashlib
import http.server
import io
import json
import os
import re
import shlex
import shutil
import socket
import ssl
import statistics
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Self

import yaml

from fleet import ADMIN_PORT, NETWORK, SERVER_PORT, Fleet, Node, command, gauge
from sidelight_testing.contract import REPOSITORY
from sidelight_testing.etcd import Etcd
from sidelight_testing.process import wait_until
from sidelight_testing.prometheus import Prometheus
from swarm import built_image

MACHINES = 3
OBJECTS = REPOSITORY / "deploy/kubernetes/sidelight.yaml"
ADAPTER = OBJECTS.with_name("prometheus-adapter.yaml")
NAME, SECRET = "sidelight", "sidelight-resume-keys"
IMAGES = [f"docker.io/library/sidelight:drill{index}" for index in range(2)]
PAUSE = "docker.io/library/pause:drill"
PLUGINS = Path("/usr/lib/cni")
METRICS, METRIC, METRICS_PORT = "custom.metrics.k8s.io", "sidelight_demand", 8443
# The seconds over which the metric is a mean.
MEAN_SECONDS = 30
COST = "controller.kubernetes.io/pod-deletion-cost"
# The versions of this Kubernetes for objects of newer ones.
VERSIONS = {"PodDisruptionBudget": "policy/v1beta1", "HorizontalPodAutoscaler": "autoscaling/v2beta2",
            "CronJob": "batch/v1beta1"}
# Settings of the whole machine that a kubelet would change; it sees these values instead.
KERNEL = {
    "vm/overcommit_memory": 1, "vm/panic_on_oom": 0, "kernel/panic": 10, "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1_000_000, "kernel/keys/root_maxbytes": 25_000_000,
}
CONTAINERD = """\
version = 2
root = "{folder}/containerd"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{plugins}"
  conf_dir = "{folder}/cni"
"""


def pods_network(number: int) -> str:
    return f"10.88.{number}.0/24"


def add_routes(within: list[str], *, without: int = 0) -> None:
    """Lets a machine, or this process, reach the pods of all machines but one."""
    for number in range(1, MACHINES + 1):
        if number != without:
            command(*within, "ip", "route", "add", pods_network(number), "via", f"{NETWORK}.{number}")


class NameServer:
    """Answers for the names of a fleet, until this process ends."""

    def __init__(self, host: str, folder: Path) -> None:
        """Makes it the name server of this process' mounts. `folder` is for files."""
        self.hosts: dict[str, list[str]] = {}
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((host, 53))
        (folder / "resolv.conf").write_text(f"nameserver {host}\noptions ndots:0\n")
        command("mount", "--bind", folder / "resolv.conf", "/etc/resolv.conf")
        Path("/etc/hosts").write_text("127.0.0.1 localhost\n")
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            query, peer = self._socket.recvfrom(512)
            length = query[12]
            name = query[13:13 + length].decode(errors="replace")
            question = query[12:query.index(0, 12) + 5]
            # Type A, class IN.
            hosts = self.hosts.get(name, []) if question.endswith(b"\0\1\0\1") else []
            flags = 0x8400 if name in self.hosts else 0x8403
            head = query[:2] + struct.pack(">HHHHH", flags, 1, len(hosts), 0, 0)
            answers = (b"\xc0\x0c\0\1\0\1" + struct.pack(">IH", 1, 4) + socket.inet_aton(each) for each in hosts)
            self._socket.sendto(head + question + b"".join(answers), peer)


class Metrics(http.server.BaseHTTPRequestHandler):
    """Answers as prometheus-adapter does."""

    demands: Callable[[], dict[str, float]]

    def do_GET(self) -> None:
        group = f"{METRICS}/v1beta1"
        answer: dict = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group, "resources": [{
            "name": f"pods/{METRIC}", "singularName": "", "namespaced": True, "kind": "MetricValueList",
            "verbs": ["get"]}]}
        if METRIC in self.path:
            now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            answer = {"kind": "MetricValueList", "apiVersion": group, "metadata": {}, "items": [
                {"metricName": METRIC, "timestamp": now,
                 "value": f"{demand * 1000:.0f}m",
                 "describedObject": {"kind": "Pod", "namespace": "default", "name": name, "apiVersion": "/v1"}}
                for name, demand in self.demands().items()]}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def metrics_objects(host: str) -> list[dict]:
    """The objects that let the API server ask this process for metrics."""
    name = {"name": "metrics", "namespace": "kube-system"}
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": name,
         "spec": {"ports": [{"port": 443, "targetPort": METRICS_PORT}]}},
        {"apiVersion": "v1", "kind": "Endpoints", "metadata": name,
         "subsets": [{"addresses": [{"ip": host}], "ports": [{"port": METRICS_PORT}]}]},
        {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
         "metadata": {"name": f"v1beta1.{METRICS}"},
         "spec": {"group": METRICS, "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100,
                  "insecureSkipTLSVerify": True, "service": {**name, "port": 443}}},
    ]


class Service:
    """A program of the cluster, with its log."""

    def __init__(self, name: str, folder: Path, *words: object) -> None:
        self.name = name
        self._log = folder / f"{self.name}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*map(str, words)], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def check(self) -> None:
        """Ends this run if the program has ended."""
        if self._process.poll() is not None:
            sys.exit(f"{self.name} cannot run here:\n{self.tail()}")

    def tail(self) -> str:
        return "\n".join(each[:400] for each in self._log.read_text(errors="replace").splitlines()[-3:])

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class Machine(Node):
    """A machine with a kubelet and containerd, which has mounts of its own."""

    namespaces = ("net", "mount")

    def __init__(self, number: int, programs: Path, kubeconfig: Path, archives: list[Path]) -> None:
        super().__init__(number)
        self.name = f"node{number}"
        self._number = number
        self._programs, self._kubeconfig, self._archives = programs, kubeconfig, archives

    def __enter__(self) -> Self:
        super().__enter__()
        self._folder = tempfile.TemporaryDirectory(prefix="kubernetes-", ignore_cleanup_errors=True)
        self._services: list[Service] = []
        folder = Path(self._folder.name)
        for place in ("/run", "/var/lib", "/var/log"):
            self.run("mount", "-t", "tmpfs", "tmpfs", place)
        for name, value in KERNEL.items():
            file = folder / name.replace("/", "-")
            file.write_text(f"{value}\n")
            self.run("mount", "--bind", file, f"/proc/sys/{name}")
        self.run("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        add_routes(self.command, without=self._number)
        (folder / "cni").mkdir()
        (folder / "cni/pods.conflist").write_text(json.dumps({
            "cniVersion": "0.3.1", "name": "pods", "plugins": [{
                "type": "bridge", "bridge": "pods", "isGateway": True, "ipam": {
                    "type": "host-local", "ranges": [[{"subnet": pods_network(self._number)}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            }],
        }))
        (folder / "containerd.toml").write_text(
            CONTAINERD.format(folder=folder, pause=PAUSE, plugins=PLUGINS))
        containerd = self._start("containerd", "containerd", "--config", folder / "containerd.toml")
        wait_until(lambda: containerd.check() or self._answers(), containerd.tail)
        for archive, names in zip(self._archives, ([PAUSE], IMAGES)):
            self._load(archive, names)
        (folder / "kubelet.yaml").write_text(json.dumps({
            "kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
            "authorization": {"mode": "AlwaysAllow"}, "address": self.host,
            # Sandboxes have control groups of the first version, and not all of them.
            "cgroupDriver": "cgroupfs", "cgroupsPerQOS": False, "enforceNodeAllocatable": [],
            "makeIPTablesUtilChains": False, "failSwapOn": False, "oomScoreAdj": 0,
            "evictionHard": {"memory.available": "100Mi"}, "imageGCHighThresholdPercent": 100,
        }))
        runtime = "unix:///run/containerd/containerd.sock"
        self._start(
            "kubelet", self._programs / "kubelet", f"--config={folder}/kubelet.yaml", f"--kubeconfig={self._kubeconfig}",
            f"--hostname-override={self.name}", f"--node-ip={self.host}", f"--root-dir={folder}/kubelet",
            f"--cert-dir={folder}/certificates", "--container-runtime=remote",
            f"--container-runtime-endpoint={runtime}", f"--image-service-endpoint={runtime}",
        )
        return self

    def __exit__(self, *_: object) -> None:
        for each in reversed(self._services):
            each.kill()
        # Containers end with this process' namespace, and their mounts with the machine's.
        super().__exit__()

    def run(self, *words: object) -> str:
        """The output of a command on the machine, which must succeed."""
        done = subprocess.run(
            [*self.command, *map(str, words)], capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise RuntimeError(f"{words[0]} {words[1]} on {self.name}: {done.stderr.strip()[-1000:]}")
        return done.stdout.strip()

    def check(self) -> None:
        for each in self._services:
            each.check()

    def log(self) -> str:
        return "\n".join(each.tail() for each in self._services)

    def signal_servers(self, signal: str) -> int:
        """Sends a signal to the servers on the machine. Returns their number."""
        ctr = ("ctr", "--namespace", "k8s.io")
        label = f'labels."io.kubernetes.container.name"=={NAME}'
        running = set(re.findall(r"^(\S+) +\d+ +RUNNING", self.run(*ctr, "tasks", "list"), re.MULTILINE))
        servers = running & set(self.run(*ctr, "containers", "list", "--quiet", label).split())
        for each in servers:
            self.run(*ctr, "tasks", "kill", "--signal", signal, each)
        return len(servers)

    def _start(self, name: str, *words: object) -> Service:
        service = Service(name, Path(self._folder.name), *self.command, *words)
        self._services.append(service)
        return service

    def _answers(self) -> bool:
        return subprocess.run([*self.command, "ctr", "version"], capture_output=True).returncode == 0

    def _load(self, archive: Path, names: list[str]) -> None:
        ctr = ("ctr", "--namespace", "k8s.io", "images")
        loaded = re.search(r"unpacking (\S+)", self.run(*ctr, "import", archive))[1]
        # Kubelets look for it by the full name too.
        for name in {*names, f"docker.io/library/{loaded.removeprefix('docker.io/library/')}"} - {loaded}:
            self.run(*ctr, "tag", loaded, name)


def pause_image(program: Path, path: Path) -> Path:
    """Writes an image with the program that holds the namespaces of a pod."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as files:
        files.add(program, "pause")
    config = {"architecture": "amd64", "os": "linux", "config": {"Entrypoint": ["/pause"]},
              "rootfs": {"type": "layers", "diff_ids": []}}
    config["rootfs"]["diff_ids"].append(f"sha256:{hashlib.sha256(layer.getvalue()).hexdigest()}")
    manifest = [{"Config": "config.json", "RepoTags": [PAUSE], "Layers": ["layer.tar"]}]
    with tarfile.open(path, "w") as archive:
        for name, data in (
            ("layer.tar", layer.getvalue()), ("config.json", json.dumps(config).encode()),
            ("manifest.json", json.dumps(manifest).encode()),
        ):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def objects() -> list[dict]:
    """The objects in `deploy/kubernetes`, for this Kubernetes and for a machine with few processors."""
    documents = list(yaml.safe_load_all(OBJECTS.read_text()))
    for each in documents:
        each["apiVersion"] = VERSIONS.get(each["kind"], each["apiVersion"])
        if each["kind"] == "CronJob":
            # Its image is not here: drills run the command.
            each["spec"]["suspend"] = True
        if each["kind"] == "Deployment":
            each["spec"]["replicas"] = MACHINES
            [container] = each["spec"]["template"]["spec"]["containers"]
            container["image"] = IMAGES[0]
            container["args"] += [
                "--compute-threads=1", "--max-sessions=1024", "--max-sessions-per-caller=1024", "--max-load=0"]
            container["args"].remove("--compute-threads=4")
            container["resources"] = {"requests": {"cpu": "900m", "memory": "64Mi"}}
    return documents


class Kubernetes:
    """A cluster with the objects in `deploy/kubernetes`, until the block ends."""

    title = "Kubernetes"

    def __init__(self, programs: Path, keys: Path) -> None:
        """- `programs`: What `build-kubernetes` has built.
        - `keys`: The file with the resume keys, which becomes a secret."""
        for program, package in (
            ("containerd", "containerd"), ("runc", "runc"), ("etcd", "etcd-server"), ("prometheus", "prometheus"),
        ):
            if not shutil.which(program):
                sys.exit(f"{program} is missing and could not be installed (Debian: {package})")
        if not (PLUGINS / "bridge").exists():
            sys.exit(f"{PLUGINS}/bridge is missing (Debian: containernetworking-plugins)")
        self.keys = keys
        self._programs = programs
        self._image = built_image()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kubernetes-")))
            self._kubeconfig = folder / "kubeconfig"
            host = f"{NETWORK}.254"
            token = base64.b16encode(os.urandom(16)).decode()
            (folder / "tokens").write_text(f"{token},admin,admin,system:masters\n")
            self._kubeconfig.write_text(json.dumps({
                "apiVersion": "v1", "kind": "Config", "current-context": "fleet",
                "clusters": [{"name": "fleet", "cluster": {
                    "server": f"https://{host}:6443", "insecure-skip-tls-verify": True}}],
                "users": [{"name": "admin", "user": {"token": token}}],
                "contexts": [{"name": "fleet", "context": {"cluster": "fleet", "user": "admin"}}],
            }))
            self.names = NameServer(host, folder)
            command("openssl", "genrsa", "-out", folder / "accounts.key", "2048")
            etcd = stack.enter_context(Etcd())

            def start(name: str, *options: str) -> Service:
                service = Service(name, folder, self._programs / name, f"--cert-dir={folder}/{name}", *options)
                stack.callback(service.kill)
                return service

            server = start(
                "kube-apiserver", f"--etcd-servers=http://{etcd.address}", f"--bind-address={host}",
                f"--advertise-address={host}", f"--token-auth-file={folder}/tokens",
                "--service-account-issuer=https://fleet", f"--service-account-key-file={folder}/accounts.key",
                f"--service-account-signing-key-file={folder}/accounts.key",
                "--service-cluster-ip-range=10.96.0.0/16", "--disable-admission-plugins=ServiceAccount",
                "--authorization-mode=RBAC", "--enable-aggregator-routing=true",
            )
            wait_until(lambda: server.check() or self._is_ready(), server.tail)
            self._certificate = [folder / f"kube-apiserver/apiserver.{each}" for each in ("crt", "key")]
            access = (f"--kubeconfig={self._kubeconfig}", "--leader-elect=false")
            self._services = [
                server, start("kube-controller-manager", *access), start("kube-scheduler", *access)]
            self.machines: list[Machine] = []
            archives = [pause_image(self._programs / "pause", folder / "pause.tar"), self._image]
            for number in range(1, MACHINES + 1):
                self.machines.append(stack.enter_context(
                    Machine(number, self._programs, self._kubeconfig, archives)))
            add_routes([])
            self.rotate()
            self.kubectl("apply", "--filename", "-", text=json.dumps(
                {"apiVersion": "v1", "kind": "List", "items": objects()}))
            self.version = json.loads(self.kubectl("version", "--output", "json"))["serverVersion"]["gitVersion"]
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(RuntimeError, subprocess.TimeoutExpired):
            # Removes control groups, which would outlive the containers.
            self.kubectl("delete", "deployment", NAME)
            self.kubectl("wait", "--for", "delete", "pods", "--all", "--timeout", "40s")
        self._stack.close()

    @property
    def description(self) -> str:
        replaced = ", ".join(f"{kind} {version}" for kind, version in VERSIONS.items())
        return f"""The machines run kubelets of Kubernetes {self.version}, built from Debian's source, with
containerd, and the objects in `deploy/kubernetes/sidelight.yaml` with older versions ({replaced}), {MACHINES} replicas,
one compute thread, requests of 0.9 cores and no limits of resources, higher limits on sessions, the load before
the drill as the autoscaler's target, and the image of `make packages`. The autoscaler's metric is the query in
`prometheus-adapter.yaml`, which a Prometheus evaluates that scrapes the pods every second. An update
is `kubectl set image`, a drain `kubectl drain`, a kill and a freeze signals in the container. For the direct
update, servers name others to their sessions (`fleet.rebalance`). Resume keys are rotated by
`kubectl apply` of the secret, and an annotation of the pods, at which kubelets look sooner. Before the scale-down,
the command of the job in `deploy/kubernetes` sets the pods' deletion costs, which Kubernetes reads from version 1.22 on."""

    def fleet(self, proxies: int) -> "KubernetesFleet":
        return KubernetesFleet(self, proxies)

    def kubectl(self, *words: object, text: str | None = None) -> str:
        """The output of a command, which must succeed."""
        done = subprocess.run(self._kubectl(*words), input=text, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise RuntimeError(f"kubectl {words[0]} {words[1]}: {done.stderr.strip()[-1000:]}")
        return done.stdout.strip()

    def follow(self) -> subprocess.Popen:
        """A process that writes a line with the addresses of the pods that are ready, whenever they change."""
        return subprocess.Popen(
            self._kubectl("get", "endpoints", f"{NAME}-pods", "--watch", "--output",
                          'jsonpath={.subsets[*].addresses[*].ip}{"\\n"}'),
            stdout=subprocess.PIPE, text=True)

    def pods(self) -> dict[str, str]:
        """The addresses of the pods that are ready, and their machines."""
        subsets = json.loads(self.kubectl("get", "endpoints", f"{NAME}-pods", "--output", "json")).get("subsets", [])
        return {each["ip"]: each["nodeName"] for subset in subsets for each in subset.get("addresses", [])}

    @contextlib.contextmanager
    def demands(self) -> Iterator[Callable[[], dict[str, float]]]:
        """Lets a Prometheus evaluate the adapter's rule. Yields the demands of the pods by their names."""
        [rule] = yaml.safe_load(ADAPTER.read_text())["rules"]["custom"]
        filled = {"Series": rule["seriesQuery"].partition("{")[0], "LabelMatchers": 'namespace="default"',
                  "GroupBy": "pod"}
        query = re.sub(r"<<\.(\w+)>>", lambda found: filled[found[1]], rule["metricsQuery"])

        def write_pods() -> None:
            """Debian's Prometheus has no discovery by Kubernetes."""
            found = self.kubectl("get", "endpoints", f"{NAME}-pods", "--output", 'jsonpath='
                                 '{range .subsets[*].addresses[*]}{.ip} {.targetRef.name}{"\\n"}{end}')
            (folder / "new").write_text(json.dumps([
                {"targets": [f"{host}:{ADMIN_PORT}"], "labels": {"namespace": "default", "pod": name}}
                for host, name in map(str.split, found.splitlines())]))
            (folder / "new").rename(folder / "pods.json")

        def demands() -> dict[str, float]:
            write_pods()
            return {each["metric"]["pod"]: float(each["value"][1]) for each in prometheus.query(query)}

        with tempfile.TemporaryDirectory(prefix="prometheus-") as name:
            folder = Path(name)
            write_pods()
            with Prometheus(
                file_sd_configs=[{"files": [str(folder / "pods.json")], "refresh_interval": "1s"}],
            ) as prometheus:
                yield demands

    @contextlib.contextmanager
    def autoscaler(self, demands: Callable[[], dict[str, float]], target: str) -> Iterator[None]:
        """Gives the autoscaler its metric, and a target for a machine with few processors."""
        host = f"{NETWORK}.254"
        server = http.server.ThreadingHTTPServer(
            (host, METRICS_PORT), type("", (Metrics,), {"demands": staticmethod(demands)}))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self._certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.kubectl("patch", "hpa.v2beta2.autoscaling", NAME, "--type", "json", "--patch", json.dumps([
            {"op": "replace", "path": "/spec/maxReplicas", "value": MACHINES},
            {"op": "replace", "path": "/spec/metrics/0/pods/target/averageValue", "value": target}]))
        objects = json.dumps({"apiVersion": "v1", "kind": "List", "items": metrics_objects(host)})
        self.kubectl("apply", "--filename", "-", text=objects)
        try:
            yield
        finally:
            self.kubectl("delete", "--ignore-not-found", "--filename", "-", text=objects)
            server.shutdown()
            server.server_close()

    def rotate(self) -> None:
        """Makes the keys in the file the secret. Kubelets notice it sooner when a pod changes."""
        secret = self.kubectl("create", "secret", "generic", SECRET, f"--from-file=keys={self.keys}",
                              "--dry-run=client", "--output", "yaml")
        self.kubectl("apply", "--filename", "-", text=secret)
        self.kubectl("annotate", "pods", "--all", "--overwrite", f"rotated={time.time()}")

    def set_deletion_costs(self) -> None:
        """Runs the command of the job in `deploy/kubernetes`, with the permissions of its account."""
        [job] = [each for each in objects() if each["kind"] == "CronJob"]
        pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        with tempfile.TemporaryDirectory() as folder:
            kubectl = Path(folder) / "kubectl"
            account = f"system:serviceaccount:default:{pod['serviceAccountName']}"
            kubectl.write_text(f'#!/bin/sh\nexec {shlex.join([*self._kubectl(), "--as", account])} "$@"\n')
            kubectl.chmod(0o755)
            subprocess.run(
                pod["containers"][0]["command"], env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"},
                check=True, timeout=60)
        pods = json.loads(self.kubectl("get", "pods", "--output", "json"))["items"]
        costs = {each["status"]["podIP"]: each["metadata"]["annotations"].get(COST) for each in pods}
        for each in self.pods():
            assert costs[each] == f"{gauge(each, 'sidelight_sessions'):.0f}", f"the cost of {each} is {costs[each]}"

    def restore(self) -> None:
        """Waits until every machine is connected and has one pod."""
        for each in self.machines:
            each.connect()
            # One may end meanwhile.
            with contextlib.suppress(RuntimeError):
                each.signal_servers("SIGCONT")
        wait_until(self._is_connected, self.log)
        for each in self.machines:
            self.kubectl("uncordon", each.name)
        self.kubectl("scale", f"deployment/{NAME}", "--replicas", MACHINES)
        wait_until(lambda: len(self.pods()) == MACHINES, self.log)
        # The scheduler spreads pods where it can.
        for _ in range(MACHINES):
            pods = self.pods()
            counts = Counter(pods.values())
            if len(counts) == MACHINES:
                return
            host = max(pods, key=lambda each: counts[pods[each]])
            self.kubectl("delete", "pods", "--field-selector", f"status.podIP={host}", "--timeout", "120s")
            wait_until(lambda: len(self.pods()) == MACHINES, self.log)
        assert len(set(self.pods().values())) == MACHINES, f"the pods are not spread: {self.pods()}"

    def log(self) -> str:
        for each in [*self._services, *self.machines]:
            each.check()
        pods = self.kubectl("get", "nodes,pods", "--output", "wide")
        events = "\n".join(self.kubectl("get", "events", "--sort-by", ".lastTimestamp").splitlines()[-12:])
        return "\n".join([pods, events, *(each.log() for each in self.machines)])

    def _is_ready(self) -> bool:
        return subprocess.run(self._kubectl("get", "--raw", "/readyz"), capture_output=True).returncode == 0

    def _is_connected(self) -> bool:
        nodes = json.loads(self.kubectl("get", "nodes", "--output", "json"))["items"]
        return MACHINES == sum(
            condition["type"] == "Ready" and condition["status"] == "True"
            for each in nodes for condition in each["status"]["conditions"])

    def _kubectl(self, *words: object) -> list[str]:
        return [str(self._programs / "kubectl"), "--kubeconfig", str(self._kubeconfig), *map(str, words)]


class KubernetesFleet(Fleet):
    """The pods as a fleet. They and their machines stay when the block ends."""

    def __init__(self, kubernetes: Kubernetes, proxies: int) -> None:
        super().__init__(kubernetes.keys, proxies, servers=0)
        self.kubernetes = kubernetes
        self._addresses: list[str] = []

    def start_servers(self) -> None:
        for node in [*self.proxy_nodes, *self.call_nodes]:
            add_routes(node.command)
        self.kubernetes.restore()
        follower = self.kubernetes.follow()
        thread = threading.Thread(target=self._follow, args=(follower,))
        self._processes.callback(thread.join)
        self._processes.callback(follower.kill)
        thread.start()
        wait_until(lambda: len(self._addresses) == MACHINES)
        self.nodes = list(self.kubernetes.machines)

    @property
    def server_hosts(self) -> list[str]:
        return self._addresses

    @property
    def proxied(self) -> list[str]:
        return ["servers"]

    def write_names(self) -> None:
        self.kubernetes.names.hosts = {
            "servers": self.server_hosts, "proxies": [node.host for node in self.proxy_nodes]}

    def publish_keys(self) -> None:
        self.kubernetes.rotate()

    def _watch(self, index: int) -> None:
        """Takes no samples: pods have other addresses after an update."""

    def _follow(self, follower: subprocess.Popen) -> None:
        for line in follower.stdout:
            self._addresses = line.split()
            self.write_names()


# Drills. They get a `Run` of a fleet.


def update(run) -> None:
    kubernetes: Kubernetes = run.fleet.kubernetes
    current = kubernetes.kubectl(
        "get", "deployment", NAME, "--output", "jsonpath={.spec.template.spec.containers[0].image}")
    image = IMAGES[IMAGES[0] == current]
    kubernetes.kubectl("set", "image", f"deployment/{NAME}", f"{NAME}={image}")
    kubernetes.kubectl("rollout", "status", f"deployment/{NAME}", "--timeout", "120s")
    run.fleet.wait_until_balanced()


def update_directly(run) -> None:
    """As `update`, of servers that name others to their sessions when they shut down."""
    kubernetes: Kubernetes = run.fleet.kubernetes
    kubernetes.kubectl(
        "set", "env", f"deployment/{NAME}", "SIDELIGHT_FLEET_REBALANCE=direct",
        f"SIDELIGHT_FLEET_PEERS=servers:{SERVER_PORT}")
    kubernetes.kubectl("rollout", "status", f"deployment/{NAME}", "--timeout", "120s")
    # The sessions of the pods with other settings have moved.
    wait_until(lambda: sum(gauge(each, "sidelight_sessions") for each in run.fleet.server_hosts) == 30)
    run.began = time.monotonic()
    update(run)


def scale_up(run) -> None:
    """Opens sessions at two pods until the autoscaler adds one, and more, which balance the load."""
    fleet: KubernetesFleet = run.fleet
    fleet.kubernetes.kubectl("scale", f"deployment/{NAME}", "--replicas", "2")
    wait_until(lambda: len(fleet.server_hosts) == 2)
    # The removed pod's sessions have moved.
    wait_until(lambda: sum(gauge(each, "sidelight_sessions") for each in fleet.server_hosts) == 24)
    with contextlib.ExitStack() as stack:
        demands = stack.enter_context(fleet.kubernetes.demands())
        time.sleep(MEAN_SECONDS)
        wait_until(lambda: len(demands()) == 2)
        # The autoscaler ignores a tenth more.
        target = statistics.mean(demands().values())
        stack.enter_context(fleet.kubernetes.autoscaler(demands, f"{target * 1000:.0f}m"))
        run.began = time.monotonic()
        run.calls.open_more(interval=0)
        wait_until(lambda: len(fleet.server_hosts) == MACHINES, fleet.kubernetes.log)
        run.measured["seconds until ready"] = round(time.monotonic() - run.began, 1)
        run.calls.open_more()
        time.sleep(60)
        run.measure_spread()


def drain(run) -> None:
    run.fleet.kubernetes.kubectl(
        "drain", run.fleet.nodes[0].name, "--delete-emptydir-data", "--timeout", "120s")


def scale_down(run) -> None:
    """Removes one of three pods, whose deletion costs are their sessions."""
    fleet: KubernetesFleet = run.fleet
    fleet.kubernetes.set_deletion_costs()
    fleet.kubernetes.kubectl("scale", f"deployment/{NAME}", "--replicas", "2")
    wait_until(lambda: len(fleet.server_hosts) == 2)
    wait_until(lambda: sum(gauge(each, "sidelight_sessions") for each in fleet.server_hosts) == 30)


def kill(run) -> None:
    """Kills a server as the kernel does without memory."""
    assert run.fleet.nodes[0].signal_servers("SIGKILL")


def freeze(run) -> None:
    assert run.fleet.nodes[0].signal_servers("SIGSTOP")
