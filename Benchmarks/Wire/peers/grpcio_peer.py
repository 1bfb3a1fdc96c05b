"""The contract in Python with grpcio, server and client: `grpcio_peer.py STUBS server|client --option
value ...`, where STUBS is the folder of the generated code."""

import argparse
import concurrent.futures
import json
import queue
import sys
import threading
import time

sys.path.insert(0, sys.argv[1])

import grpc  # noqa: E402
from sidelight.v1 import frame_filter_pb2_grpc, image_pb2, session_pb2  # noqa: E402

LIMITS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
PRIVATE = [("grpc.use_local_subchannel_pool", 1)]


class Service(frame_filter_pb2_grpc.FrameFilterServicer):
    def Process(self, request_iterator, context):
        for message in request_iterator:
            kind = message.WhichOneof("kind")
            if kind == "open":
                yield session_pb2.ServerMessage(opened={"frames_in_flight": 64})
            elif kind == "frame":
                answer = session_pb2.ServerMessage()
                answer.frame.sequence = message.frame.sequence
                answer.frame.image.CopyFrom(message.frame.image)
                yield answer


def serve(options) -> None:
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(64), options=LIMITS)
    frame_filter_pb2_grpc.add_FrameFilterServicer_to_server(Service(), server)
    port = server.add_insecure_port(options.address)
    server.start()
    bound = options.address if options.address.startswith("unix:") else f"127.0.0.1:{port}"
    print(f"listening on {bound}", flush=True)
    server.wait_for_termination()


class Stream:
    """Sends the same frame again for each that comes back."""

    def __init__(self, options, image):
        self.image, self.in_flight = image, options.in_flight
        self.turns: queue.SimpleQueue = queue.SimpleQueue()
        self.sent: list[float] = []
        self.arrivals: list[tuple[float, float]] = []
        self.opened, self.over = threading.Event(), threading.Event()
        channel = grpc.insecure_channel(options.address, options=LIMITS + PRIVATE)
        self.answers = frame_filter_pb2_grpc.FrameFilterStub(channel).Process(self.requests())
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def requests(self):
        yield session_pb2.ClientMessage(open={"drop_policy": "DROP_POLICY_NEVER_DROP"})
        message = session_pb2.ClientMessage(frame={"image": self.image})
        while self.turns.get():
            message.frame.sequence += 1
            self.sent.append(time.monotonic())
            yield message

    def run(self) -> None:
        for answer in self.answers:
            if answer.HasField("opened"):
                self.opened.set()
                for _ in range(self.in_flight):
                    self.turns.put(True)
                continue
            now = time.monotonic()
            if not self.arrivals and answer.frame.image.inline != self.image.inline:
                sys.exit("A frame came back with other pixels than it was sent with.")
            self.arrivals.append((now, now - self.sent[len(self.arrivals)]))
            self.turns.put(not self.over.is_set())


def drive(options) -> None:
    width, height = (int(side) for side in options.size.split("x"))
    image = image_pb2.Image(
        format=f"PIXEL_FORMAT_{options.format.upper()}", width=width, height=height,
        inline=bytes(range(256)) * (options.bytes // 256) + bytes(options.bytes % 256))
    streams = [Stream(options, image) for _ in range(options.streams)]
    for stream in streams:
        if not stream.opened.wait(20):
            sys.exit("a stream has not opened")
    time.sleep(options.warm_up)
    print("begin", flush=True)
    begin = time.monotonic()
    time.sleep(options.seconds)
    end = time.monotonic()
    print("end", flush=True)
    times = []
    for stream in streams:
        stream.over.set()
        stream.thread.join()
        times.append(sorted(trip for at, trip in stream.arrivals if begin <= at < end))
    every = sorted(trip for some in times for trip in some) or [0.0]
    print(json.dumps({
        "frames": sum(map(len, times)), "seconds": end - begin,
        "p50_us": every[(len(every) - 1) // 2] * 1e6,
        "p99_us": every[int((len(every) - 1) * 0.99)] * 1e6, "dropped": 0,
        "least": min(map(len, times)), "most": max(map(len, times))}), flush=True)
    sys.stdin.read()


def main() -> None:
    if sys.argv[2] == "version":
        print(f"Python grpcio {grpc.__version__}")
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", default="127.0.0.1:0")
    parser.add_argument("--format", default="i420")
    parser.add_argument("--size", default="1280x720")
    for name, kind in {"bytes": int, "streams": int, "in-flight": int, "warm-up": float,
                       "seconds": float}.items():
        parser.add_argument(f"--{name}", type=kind, default=1)
    options, _ = parser.parse_known_args(sys.argv[3:])
    (serve if sys.argv[2] == "server" else drive)(options)


if __name__ == "__main__":
    main()
