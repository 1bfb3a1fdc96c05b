"""A grpcio server that returns each message of a stream. Prints its address."""

import sys
from concurrent import futures

import grpc

METHODS = {"Echo": grpc.stream_stream_rpc_method_handler(lambda requests, _: requests)}


def main() -> None:
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("link.Echo", METHODS)])
    port = server.add_insecure_port(f"{sys.argv[1]}:0")
    server.start()
    print(f"{sys.argv[1]}:{port}", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
