"""Our copies of OpenTelemetry's messages, compared with the Python package."""

from google.protobuf import descriptor_pb2, descriptor_pool
from grpc_tools import protoc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2  # noqa: F401, registers it

from sidelight_testing.contract import REPOSITORY


def test_our_copies_of_opentelemetrys_messages_match_the_package(tmp_path):
    """Every field of ours is a field of the package, by number, name, type and label."""
    sources = sorted((REPOSITORY / "Protos/opentelemetry").rglob("*.proto"))
    names = [str(path.relative_to(REPOSITORY / "Protos")) for path in sources]
    compiled = tmp_path / "descriptors"
    assert protoc.main(
        ["protoc", f"-I{REPOSITORY / 'Protos'}", f"--descriptor_set_out={compiled}", *names]
    ) == 0
    ours = descriptor_pb2.FileDescriptorSet.FromString(compiled.read_bytes())
    assert len(ours.file) == 4
    compared = 0
    for file in ours.file:
        theirs = descriptor_pb2.FileDescriptorProto()
        descriptor_pool.Default().FindFileByName(file.name).CopyToProto(theirs)
        compared += compare(file.message_type, theirs.message_type)
    assert compared > 40


def compare(ours, theirs) -> int:
    """Compares messages of one place, and those within them; returns how many fields they have."""
    by_name = {message.name: message for message in theirs}
    count = 0
    for message in ours:
        other = by_name[message.name]
        known = {(each.number, each.name, each.type, each.type_name, each.label) for each in other.field}
        for field in message.field:
            key = (field.number, field.name, field.type, field.type_name, field.label)
            assert key in known, f"{message.name}.{field.name}"
        count += len(message.field) + compare(message.nested_type, other.nested_type)
    return count
