"""The contract in Python, generated from Protos/ alone, as any client author would.

The code is generated when this module is imported, into a folder that lasts as long as the process.
"""

import atexit
import shutil
import sys
import tempfile
from importlib import resources
from pathlib import Path

import grpc_tools
from grpc_tools import protoc

REPOSITORY = Path(__file__).resolve().parents[3]
# The folder from which programs of the tests run, so they can import the tests' modules.
TESTS = REPOSITORY / "Tests/Python"


def _generate() -> Path:
    protos = REPOSITORY / "Protos"
    target = tempfile.mkdtemp(prefix="sidelight-contract-")
    atexit.register(shutil.rmtree, target, ignore_errors=True)
    with resources.as_file(resources.files(grpc_tools) / "_proto") as well_known:
        failed = protoc.main(
            ["protoc", f"-I{protos}", f"-I{well_known}"]
            + [f"--python_out={target}", f"--grpc_python_out={target}"]
            # The standard services' clients bring their own generated code.
            + sorted(str(path) for path in (protos / "sidelight").rglob("*.proto"))
        )
    if failed:
        raise RuntimeError(f"protoc could not generate from {protos}")
    sys.path.insert(0, target)
    return Path(target)


GENERATED = _generate()

# Only now is there something to import.
from google.rpc import error_details_pb2 as error_details
from sidelight.v1 import assets_pb2 as assets
from sidelight.v1 import assets_pb2_grpc as assets_service
from sidelight.v1 import catalogue_pb2 as catalogue
from sidelight.v1 import frame_filter_pb2 as frame_filter
from sidelight.v1 import frame_filter_pb2_grpc as service
from sidelight.v1 import image_pb2 as image
from sidelight.v1 import pipeline_pb2 as pipeline
from sidelight.v1 import session_pb2 as session
from sidelight.v1 import sessions_pb2 as sessions
from sidelight.v1 import sessions_pb2_grpc as sessions_service

__all__ = [
    "GENERATED",
    "REPOSITORY",
    "assets",
    "assets_service",
    "catalogue",
    "error_details",
    "frame_filter",
    "image",
    "pipeline",
    "service",
    "session",
    "sessions",
    "sessions_service",
]
