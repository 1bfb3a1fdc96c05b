"""The contract in Python, generated from Protos/ alone, as any client author would.

The code is generated when this module is imported, in a folder that is removed once the code is
imported: processes of the tests that are killed leave none.
"""

import sys
import tempfile
from importlib import resources
from pathlib import Path

import grpc_tools
from grpc_tools import protoc

REPOSITORY = Path(__file__).resolve().parents[3]
# The folder from which programs of the tests run, so they can import the tests' modules.
TESTS = REPOSITORY / "Tests/Python"


def generate(folder: Path | str) -> None:
    """Generates the contract's code in a folder."""
    protos = REPOSITORY / "Protos"
    with resources.as_file(resources.files(grpc_tools) / "_proto") as well_known:
        failed = protoc.main(
            ["protoc", f"-I{protos}", f"-I{well_known}"]
            + [f"--python_out={folder}", f"--grpc_python_out={folder}"]
            # The standard services' clients bring their own generated code.
            + sorted(str(path) for path in (protos / "sidelight").rglob("*.proto"))
        )
    if failed:
        raise RuntimeError(f"protoc could not generate from {protos}")


with tempfile.TemporaryDirectory(prefix="sidelight-contract-") as _folder:
    generate(_folder)
    sys.path.insert(0, _folder)
    from google.rpc import error_details_pb2 as error_details
    from sidelight.v1 import assets_pb2 as assets
    from sidelight.v1 import assets_pb2_grpc as assets_service
    from sidelight.v1 import catalogue_pb2 as catalogue
    from sidelight.v1 import frame_filter_pb2 as frame_filter
    from sidelight.v1 import frame_filter_pb2_grpc as service
    from sidelight.v1 import image_pb2 as image
    from sidelight.v1 import pipeline_pb2 as pipeline
    from sidelight.v1 import resume_pb2 as resume
    from sidelight.v1 import session_pb2 as session
    from sidelight.v1 import sessions_pb2 as sessions
    from sidelight.v1 import sessions_pb2_grpc as sessions_service

    sys.path.remove(_folder)

__all__ = [
    "REPOSITORY",
    "assets",
    "assets_service",
    "catalogue",
    "error_details",
    "frame_filter",
    "generate",
    "image",
    "pipeline",
    "resume",
    "service",
    "session",
    "sessions",
    "sessions_service",
]
