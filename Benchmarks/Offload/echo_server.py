"""A grpcio server that returns each message of a stream after some work. Prints its address.

    echo_server.py HOST WORK-SECONDS
"""

import sys
import time
from concurrent import futures

import grpc


def echo(requests, _):
    for message in requests:
        end = time.thread_time() + float(sys.argv[2])
        while time.thread_time() < end:
            pass
        yield message


METHODS = {"Echo": grpc.stream_stream_rpc_method_handler(echo)}


def main() -> None:
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("link.Echo", METHODS)])
    port = server.add_insecure_port(f"{sys.argv[1]}:0")
    server.start()
    print(f"{sys.argv[1]}:{port}", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
