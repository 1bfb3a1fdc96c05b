"""The client of clients/web: its units, its types, and its codec against protobuf for Python, with
random messages of the contract."""

import json
import os
import random
import shutil
import string
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor as Field
from google.protobuf.message import Message

from studiotesting.studio import REPOSITORY, binary

UNIT = Path(__file__).parent / "unit"
CLIENT = REPOSITORY / "clients/web"
NODE = ["node", "--no-warnings", "--experimental-default-type=module"]
MESSAGES = 300
MOST_DEPTH = 6
INTEGERS = {
    Field.TYPE_INT32: (-(2**31), 2**31 - 1), Field.TYPE_SINT32: (-(2**31), 2**31 - 1),
    Field.TYPE_SFIXED32: (-(2**31), 2**31 - 1), Field.TYPE_UINT32: (0, 2**32 - 1),
    Field.TYPE_FIXED32: (0, 2**32 - 1), Field.TYPE_INT64: (-(2**63), 2**63 - 1),
    Field.TYPE_SINT64: (-(2**63), 2**63 - 1), Field.TYPE_SFIXED64: (-(2**63), 2**63 - 1),
    Field.TYPE_UINT64: (0, 2**64 - 1), Field.TYPE_FIXED64: (0, 2**64 - 1),
}


@pytest.fixture
def contract(monkeypatch: pytest.MonkeyPatch) -> list[type[Message]]:
    """The messages of the contract that the page exchanges."""
    monkeypatch.syspath_prepend(REPOSITORY / "clients/python/src")
    from sidelight.v1 import (
        assets_pb2,
        catalogue_pb2,
        frame_filter_pb2,
        pipeline_pb2,
        session_pb2,
        sessions_pb2,
    )

    return [
        session_pb2.ClientMessage, session_pb2.ServerMessage, catalogue_pb2.FilterDescription,
        frame_filter_pb2.CheckPipelineResponse, assets_pb2.ListAssetsResponse,
        sessions_pb2.WatchSessionsResponse, sessions_pb2.OverrideSessionRequest,
        pipeline_pb2.Pipeline,
    ]


def test_random_messages_are_read_and_written_as_protobuf_does(contract):
    chance = random.Random(18)
    messages = [_random(chance, contract[index % len(contract)]()) for index in range(MESSAGES)]
    lines = [f"{each.DESCRIPTOR.full_name} {each.SerializeToString().hex()}" for each in messages]
    answers = _convert(lines)
    for message, answer in zip(messages, answers, strict=True):
        written, _, text = answer.partition(" ")
        assert written != "error", text
        again = type(message).FromString(bytes.fromhex(written.strip("-")))
        assert again == message
        if message.DESCRIPTOR.name == "Pipeline":
            assert json_format.ParseDict(json.loads(text), type(message)()) == message


def test_damaged_messages_are_refused_or_read_and_never_crash(contract):
    chance = random.Random(19)
    lines = []
    for index in range(2 * MESSAGES):
        data = bytearray(_random(chance, contract[index % len(contract)]()).SerializeToString())
        for _ in range(min(len(data), 3)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        name = contract[index % len(contract)].DESCRIPTOR.full_name
        lines.append(f"{name} {data.hex()}")
    assert len(_convert(lines)) == len(lines)


@pytest.mark.parametrize("folder", [UNIT, CLIENT / "tests"])
def test_modules_that_need_no_browser(folder):
    """The tests of the page's modules, and of the client, in Node."""
    done = subprocess.run(
        [*NODE, "--test", *sorted(map(str, folder.glob("*.test.js")))], capture_output=True,
        text=True, timeout=120, env=os.environ | {"SIDELIGHT_BINARY": str(binary())},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_client_has_types_for_typescript(tmp_path):
    package = tmp_path / "node_modules/sidelight-web"
    shutil.copytree(CLIENT / "sidelight", package / "sidelight")
    shutil.copy(CLIENT / "package.json", package)
    subprocess.run(
        ["tsc", "--project", CLIENT, "--outDir", package / "types"], check=True, timeout=120)
    example = Path(shutil.copy(CLIENT / "tests/example.mts", tmp_path))
    compiled = [
        "tsc", "--noEmit", "--strict", "--module", "node16", "--target", "es2022",
        "--lib", "es2022,dom", example,
    ]
    done = subprocess.run(compiled, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    example.write_text(example.read_text().replace('kind === "frame"', 'kind === "picture"'))
    assert subprocess.run(compiled, capture_output=True, timeout=120).returncode != 0


def test_the_generated_tables_are_those_of_the_contract(tmp_path):
    subprocess.run(
        [REPOSITORY / "dev/protos", tmp_path, "page"], check=True, timeout=120,
        env=os.environ | {"PYTHON": sys.executable},
    )
    for name in ("messages.js", "message-types.js"):
        committed = CLIENT / "sidelight/Generated" / name
        assert (tmp_path / committed.relative_to(REPOSITORY)).read_text() == committed.read_text(), "run make protos"


def _convert(lines: list[str]) -> list[str]:
    done = subprocess.run(
        [*NODE, CLIENT / "tests/convert.js"], input="\n".join(lines) + "\n", capture_output=True,
        text=True, timeout=120, check=True,
    )
    return done.stdout.splitlines()


def _random(chance: random.Random, message: Message, depth: int = 0) -> Message:
    """Fills a message at random."""
    fields = [each for each in message.DESCRIPTOR.fields if chance.random() < 0.6]
    for field in fields:
        is_message = field.type == Field.TYPE_MESSAGE
        if is_message and depth >= MOST_DEPTH:
            continue
        if is_message and field.message_type.GetOptions().map_entry:
            _fill_map(chance, message, field, depth)
        elif field.is_repeated:
            for _ in range(chance.randrange(3)):
                if is_message:
                    _random(chance, getattr(message, field.name).add(), depth + 1)
                else:
                    getattr(message, field.name).append(_value(chance, field))
        elif is_message:
            getattr(message, field.name).SetInParent()
            _random(chance, getattr(message, field.name), depth + 1)
        else:
            setattr(message, field.name, _value(chance, field))
    return message


def _fill_map(chance, message, field, depth) -> None:
    entries = getattr(message, field.name)
    value = field.message_type.fields_by_name["value"]
    for _ in range(chance.randrange(3)):
        key = _text(chance)
        if value.type == Field.TYPE_MESSAGE:
            _random(chance, entries[key], depth + 1)
        else:
            entries[key] = _value(chance, value)


def _value(chance: random.Random, field: Field) -> object:
    match field.type:
        case Field.TYPE_STRING:
            return _text(chance)
        case Field.TYPE_BYTES:
            return chance.randbytes(chance.randrange(40))
        case Field.TYPE_BOOL:
            return chance.random() < 0.5
        case Field.TYPE_DOUBLE:
            return chance.choice([0.0, -1.5, 1e-300, 0.1, chance.uniform(-1e9, 1e9), 2.0**60])
        case Field.TYPE_ENUM:
            return chance.choice(field.enum_type.values).number
        case kind:
            least, greatest = INTEGERS[kind]
            return chance.choice([0, 1, least, greatest, chance.randint(least, greatest), 300])


def _text(chance: random.Random) -> str:
    return "".join(chance.choices(string.printable + "äß漢😀\u0000", k=chance.randrange(12)))
