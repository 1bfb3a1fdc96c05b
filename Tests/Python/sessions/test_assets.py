"""Uploads of assets by a generated client: accepted and refused files, limits and errors."""

import hashlib

import grpc
import numpy as np
import PIL.Image
import pytest
from grpc_status import rpc_status

from sidelight_testing import assets
from sidelight_testing.broken_assets import BROKEN_FILES
from sidelight_testing.command import sidelight
from sidelight_testing.contract import assets as messages
from sidelight_testing.contract import assets_service, error_details, frame_filter, service
from sidelight_testing.process import resident_bytes, wait_for_memory
from sidelight_testing.server import Server, connect

RED = np.full((4, 4, 4), (255, 0, 0, 255), dtype=np.uint8)


@pytest.fixture
def asset_stub(server):
    """A caller on a separate connection, whose assets are deleted afterwards."""
    with connect(server.addresses["tcp"]) as channel:
        stub = assets_service.AssetsStub(channel)
        yield stub
        for name in names(stub):
            stub.DeleteAsset(messages.DeleteAssetRequest(name=name))


def names(stub) -> list[str]:
    return [each.name for each in stub.ListAssets(messages.ListAssetsRequest(), timeout=60).assets]


def load(server):
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        stub = service.FrameFilterStub(channel)
        return stub.GetServerInfo(frame_filter.GetServerInfoRequest(), timeout=60).load


def refusal(call) -> tuple[grpc.StatusCode, error_details.ErrorInfo, str]:
    """The code, the ErrorInfo and the sentence with which a call is refused."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    status = rpc_status.from_call(caught.value)
    assert status is not None, f"no details: {caught.value}"
    info = error_details.ErrorInfo()
    (packed,) = [each for each in status.details if each.Is(info.DESCRIPTOR)]
    packed.Unpack(info)
    assert info.domain == "sidelight.v1" and info.metadata["field"]
    # A program finds the same in the detail that goes with the code.
    kinds = {each.TypeName() for each in status.details} - {"google.rpc.ErrorInfo"}
    assert len(kinds) == 1 and kinds <= {"google.rpc.BadRequest", "google.rpc.QuotaFailure"}
    return caught.value.code(), info, caught.value.details()


def test_an_image_is_uploaded_listed_and_deleted(asset_stub):
    file = assets.png(RED)
    answer = assets.put(asset_stub, "hat", file)
    assert not answer.replaced
    assert answer.asset.kind == messages.ASSET_KIND_IMAGE
    assert answer.asset.origin == messages.ASSET_ORIGIN_CALLER
    assert (answer.asset.width, answer.asset.height) == (4, 4)
    assert answer.asset.file_bytes == len(file)
    assert answer.asset.sha256 == hashlib.sha256(file).digest()
    assert names(asset_stub) == ["hat"]
    assert assets.put(asset_stub, "hat", file).replaced
    asset_stub.DeleteAsset(messages.DeleteAssetRequest(name="hat"))
    assert names(asset_stub) == []
    code, info, _ = refusal(
        lambda: asset_stub.DeleteAsset(messages.DeleteAssetRequest(name="hat"))
    )
    assert code == grpc.StatusCode.NOT_FOUND and info.reason == "ASSET_NOT_FOUND"


@pytest.mark.parametrize("chunk_bytes", [1, 777, 1 << 19])
def test_chunks_can_have_any_length(asset_stub, chunk_bytes):
    file = assets.cube_file(np.zeros((4, 4, 4, 3)))
    answer = assets.put(asset_stub, "look", file, chunk_bytes=chunk_bytes)
    assert answer.asset.kind == messages.ASSET_KIND_CUBE
    assert answer.asset.is_cube and answer.asset.entries == 4


GOOD_PICTURES = {
    "rgba.png": lambda p: assets.encoded(p.convert("RGBA"), "PNG"),
    "palette.png": lambda p: assets.encoded(p.convert("P"), "PNG"),
    "gray.png": lambda p: assets.encoded(p.convert("L"), "PNG"),
    "bits.png": lambda p: assets.encoded(p.convert("1"), "PNG"),
    "plain.jpg": lambda p: assets.encoded(p, "JPEG"),
    "progressive.jpg": lambda p: assets.encoded(p, "JPEG", progressive=True),
    "gray.jpg": lambda p: assets.encoded(p.convert("L"), "JPEG"),
    "exif.jpg": lambda p: assets.encoded(p, "JPEG", exif=b"Exif\0\0" + bytes(60000)),
}


@pytest.mark.parametrize("kind", GOOD_PICTURES)
def test_images_of_every_kind_are_accepted(asset_stub, kind):
    colors = np.random.default_rng(1).integers(0, 256, (50, 70, 3), dtype=np.uint8)
    file = GOOD_PICTURES[kind](PIL.Image.fromarray(colors))
    answer = assets.put(asset_stub, kind, file)
    assert (answer.asset.width, answer.asset.height) == (70, 50)


@pytest.mark.parametrize("kind", BROKEN_FILES)
def test_invalid_files_are_refused_with_the_reason(server, asset_stub, kind):
    make, reason, words = BROKEN_FILES[kind]
    code, info, sentence = refusal(lambda: assets.put(asset_stub, "x", make()))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert info.reason == reason
    assert words in sentence, sentence
    assert len(sentence) < 500
    assert names(asset_stub) == []
    assert load(server).asset_bytes == 0


def test_an_upload_refused_at_its_header_ends_before_its_chunks(asset_stub):
    """A client that writes on must learn why, and not of a reset."""
    for _ in range(5):
        code, info, _ = refusal(lambda: assets.put(asset_stub, "..", bytes(15 << 20)))
        assert code == grpc.StatusCode.INVALID_ARGUMENT
        assert info.reason == "ASSET_NAME_INVALID"


def test_a_name_of_one_long_character_has_a_short_error(asset_stub):
    """Errors travel in headers, which have a limit at the client."""
    name = "e" + "\u0301" * 300_000
    code, info, sentence = refusal(lambda: assets.put(asset_stub, name, b"x"))
    assert info.reason == "ASSET_NAME_INVALID" and len(sentence) < 500
    code, info, sentence = refusal(
        lambda: asset_stub.DeleteAsset(messages.DeleteAssetRequest(name=name))
    )
    assert code == grpc.StatusCode.INVALID_ARGUMENT and len(sentence) < 1000


def test_a_chunk_over_the_message_limit_is_refused(asset_stub):
    with pytest.raises(grpc.RpcError) as caught:
        assets.put(asset_stub, "x", bytes(3 << 20), chunk_bytes=2 << 20)
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "max_control_message_bytes" in caught.value.details()


def test_a_cancelled_upload_leaves_no_resources(server, asset_stub):
    """A deadline of the caller's own, with the rest of the file still to come."""

    def halted():
        yield from list(assets.upload("x", bytes(1 << 20)))[:3]
        import threading

        threading.Event().wait(30)

    call = asset_stub.PutAsset.future(halted(), timeout=1)
    assert call.exception().code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert names(asset_stub) == []
    assert load(server).assets == 0


def test_assets_are_invisible_to_other_users(server, asset_stub):
    """The same names over the Unix socket are another caller's."""
    assets.put(asset_stub, "hat", assets.png(RED))
    with grpc.insecure_channel(server.addresses["unix"]) as channel:
        other = assets_service.AssetsStub(channel)
        assert names(other) == []
        code, _, _ = refusal(lambda: other.DeleteAsset(messages.DeleteAssetRequest(name="hat")))
        assert code == grpc.StatusCode.NOT_FOUND
    assert names(asset_stub) == ["hat"]


def test_the_configured_limits_apply(tmp_path):
    (tmp_path / "logo.png").write_bytes(assets.png(RED))
    options = [
        *("--asset", f"logo={tmp_path / 'logo.png'}", "--max-assets-per-caller", "1"),
        *("--max-asset-file-bytes", "1000", "--asset-lifetime", "500"),
    ]
    with Server(*options) as server:
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            info = service.FrameFilterStub(channel).GetServerInfo(
                frame_filter.GetServerInfoRequest(), timeout=60
            )
            limits = info.asset_limits
            assert limits.max_assets_per_caller == 1 and limits.max_file_bytes == 1000
            assert limits.lifetime.seconds == 500
            stub = assets_service.AssetsStub(channel)
            (listed,) = stub.ListAssets(messages.ListAssetsRequest()).assets
            assert listed.name == "logo" and listed.origin == messages.ASSET_ORIGIN_SERVER
            code, why, _ = refusal(lambda: assets.put(stub, "logo", assets.png(RED)))
            assert code == grpc.StatusCode.ALREADY_EXISTS and why.reason == "ASSET_NAME_TAKEN"
            code, why, _ = refusal(lambda: assets.put(stub, "x", bytes(1001)))
            assert why.metadata == {
                "field": "header.size_bytes", "value": "1001", "limit": "1000"
            }
            assets.put(stub, "one", assets.png(RED))
            code, why, _ = refusal(lambda: assets.put(stub, "two", assets.png(RED)))
            assert code == grpc.StatusCode.RESOURCE_EXHAUSTED
            assert why.metadata["field"] == "max_assets_per_caller"
        assert server.terminate() == 0, server.log


def test_memory_of_deleted_images_is_released():
    """In the heap they would leave holes, which grow from round to round."""
    colors = np.random.default_rng(6).integers(0, 256, (1024, 1024, 4), dtype=np.uint8)
    file = assets.png(colors)
    with Server("--release-memory-after", "1") as server:
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            stub = assets_service.AssetsStub(channel)
            assets.put(stub, "first", file)
            stub.DeleteAsset(messages.DeleteAssetRequest(name="first"))
            before = resident_bytes(server.process)
            for _ in range(6):
                for number in range(14):
                    assets.put(stub, f"{number}", file)
                assert resident_bytes(server.process) < before + load(server).asset_bytes
                for number in range(14):
                    stub.DeleteAsset(messages.DeleteAssetRequest(name=f"{number}"))
            assert load(server).asset_bytes == 0
        wait_for_memory(server.process, before + (24 << 20))
        assert server.terminate() == 0, server.log


def test_the_command_uploads_lists_and_deletes(server, asset_stub, tmp_path):
    (tmp_path / "hat.png").write_bytes(assets.png(RED))
    (tmp_path / "look.cube").write_bytes(assets.cube_file(np.zeros((2, 2, 2, 3))))
    (tmp_path / "in.png").write_bytes(assets.png(np.zeros((4, 4, 3), dtype=np.uint8)))
    at = ("--server", server.addresses["tcp"])
    said = sidelight("assets", "put", "hat", tmp_path / "hat.png", *at).stdout.decode()
    assert said.startswith("hat\timage 4x4\t")
    sidelight("assets", "put", "look", tmp_path / "look.cube", *at)
    said = sidelight("assets", "list", *at).stdout.decode()
    assert [line.split("\t")[:2] for line in said.splitlines()] == [
        ["hat", "image 4x4"], ["look", "cube of 2 entries a side"]
    ]
    out = tmp_path / "out.png"
    sidelight("apply", tmp_path / "in.png", out, "--pipeline", "overlay(asset: hat)", *at)
    assert np.all(np.asarray(PIL.Image.open(out)) == (255, 0, 0))
    sidelight("assets", "delete", "hat", *at)
    assert names(asset_stub) == ["look"]
    said = sidelight("assets", "delete", "hat", *at, fails=True).stderr.decode()
    assert "you have no asset" in said
    said = sidelight("assets", "put", "x", tmp_path / "none", *at, fails=True).stderr.decode()
    assert "none" in said
    said = sidelight("assets", "put", "x", __file__, *at, fails=True).stderr.decode()
    assert ".cube" in said
