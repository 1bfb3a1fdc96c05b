"""A service of grpcio that filters frames in its messages, which are the bytes alone.

Prints its address.
"""

from concurrent.futures import ThreadPoolExecutor

import grpc
import numpy as np
from warm import HEIGHT, WIDTH, warm


def filtered(requests, _):
    for request in requests:
        picture = np.frombuffer(request, np.uint8).reshape(HEIGHT, WIDTH, 4).copy()
        warm(picture)
        yield picture.tobytes()


method = grpc.stream_stream_rpc_method_handler(filtered)
server = grpc.server(
    ThreadPoolExecutor(2), options=[("grpc.max_receive_message_length", -1)]
)
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("Warm", {"Filter": method})])
port = server.add_insecure_port("127.0.0.1:0")
server.start()
print(f"127.0.0.1:{port}", flush=True)
server.wait_for_termination()
