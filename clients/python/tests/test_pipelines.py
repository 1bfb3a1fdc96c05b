"""Pipelines, values and updates as messages, without a server."""

import math

import pytest

from sidelight import pipelines
from sidelight.errors import InvalidArgument
from sidelight.pipelines import (
    RGBA,
    FailurePolicy,
    Pipeline,
    Point,
    Region,
    Stage,
    height,
    px,
    short_side,
    width,
)
from sidelight.v1 import pipeline_pb2

VALUES = [
    3,
    2.5,
    True,
    False,
    "clamp",
    "",
    px(4),
    width(0.5),
    height(0.25),
    short_side(1),
    Point(width(0.5), px(3)),
    RGBA(0.1, 0.2, 0.3, 0.4),
    [1.0, 2.0, 3.0],
    [],
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_survive_a_message(value):
    stage = Stage("any", {"value": value})
    again = Stage.of(stage.message())
    assert again.parameters["value"] == value
    assert isinstance(again.parameters["value"], bool) == isinstance(value, bool)


def test_stages_survive_a_message():
    pipeline = Pipeline(
        [
            Stage("sepiaTone").named("look").mix(0.5).on_failure("blur"),
            Pipeline(["vignette", Stage("pixellate", {"scale": 8}).off()], working_space="linear"),
            Stage("grain").region(px(1), height(0.5), width(1), px(9)),
        ],
        working_space="gamma",
    )
    message = pipeline.message()
    assert Pipeline.of(message).message() == message
    assert Pipeline.of(message).stages[0] == pipeline.stages[0]
    assert message.stages[0].mix == 0.5
    assert message.stages[0].failure_policy == pipeline_pb2.FAILURE_POLICY_BLUR
    assert [each.active for each in message.stages[1].pipeline.stages] == [False, False]
    assert not message.stages[1].pipeline.stages[0].HasField("active")
    assert Pipeline.of(message).stages[2].area == Region(px(1), height(0.5), width(1), px(9))


def test_modifiers_return_copies():
    stage = Stage("sepiaTone")
    assert stage.named("a") != stage and stage.id == ""
    assert Pipeline([stage]).mix(0.5).content == Pipeline([stage])


def test_every_form_of_a_pipeline_is_accepted():
    one = Pipeline([Stage("vignette")]).message()
    forms = [Stage("vignette"), [Stage("vignette")], ("vignette",), Pipeline("vignette")]
    assert [pipelines.source_of(form) for form in forms] == [one] * 4
    assert pipelines.source_of(None) == pipelines.source_of([]) == pipeline_pb2.Pipeline()
    assert pipelines.source_of("vignette") == "vignette"
    assert len(pipelines.source_of([Pipeline(["a", "b"])]).stages[0].pipeline.stages) == 2


def test_names_with_underscores_are_those_of_the_contract():
    names = {"focal_length": "focalLength", "every_nth": "everyNth", "scale": "scale", "in_": "in"}
    assert {name: pipelines.wire_name(name) for name in names} == names
    message = Stage("any", {"r_vector": [1], "absent": None}).message()
    assert list(message.filter.parameters) == ["rVector"]


@pytest.mark.parametrize(
    "pipeline, message",
    [
        (5, "pipeline is 5; it must be a text, Stage, Pipeline"),
        ([5], "pipeline.stages is 5; it must be a Stage"),
        (["sepiaTone(intensity: 1)"], "a text with parameters must be the whole pipeline"),
        (
            Stage("sepiaTone", {"intensity": math.nan}),
            "pipeline.stages[0].filter.parameters['intensity'] is nan; it must be a finite number",
        ),
        (
            ["vignette", Pipeline([Stage("crop", {"origin": Point(1, "left")})])],
            "pipeline.stages[1].pipeline.stages[0].filter.parameters['origin'].y is 'left'",
        ),
        (Stage("any", {"value": [1, "x"]}), "parameters['value'][1] is 'x'"),
        (Stage("any", {"value": object}), "it must be a finite number, Length, Point"),
        (Stage("any").region(0, 0, math.inf, 1), "pipeline.stages[0].region.width is inf"),
    ],
)
def test_errors_name_the_path(pipeline, message):
    with pytest.raises(InvalidArgument) as raised:
        pipelines.source_of(pipeline)
    assert message in str(raised.value)


def test_modifiers_check_their_values():
    with pytest.raises(InvalidArgument, match="mix is 2; it must be a finite number from 0 to 1"):
        Stage("any").mix(2)
    with pytest.raises(InvalidArgument, match="on_failure is 'ignore'; it must be one of"):
        Stage("any").on_failure("ignore")
    with pytest.raises(InvalidArgument, match="working_space is 'hdr'"):
        Pipeline(working_space="hdr")
    assert Stage("any").on_failure(FailurePolicy.DROP) == Stage("any").on_failure("drop")


def test_updates_have_a_path_or_a_mapping():
    path = pipelines.update_message("stages[1].pipeline.stages[0].scale", 24)
    mapping = pipelines.update_message({"stages[1].pipeline.stages[0]": {"scale": 24}})
    assert path == mapping and path[0].parameters["scale"].number == 24
    two = pipelines.update_message({"a": {"edge_width": px(2), "on": True}, "b": {"x": 1}})
    assert [(each.stage, sorted(each.parameters)) for each in two] == [
        ("a", ["edgeWidth", "on"]),
        ("b", ["x"]),
    ]
    for arguments in (("scale", 24), (".scale", 24), ("s0.", 24), ("s0.scale",), ({"a": {}}, 1)):
        with pytest.raises(InvalidArgument):
            pipelines.update_message(*arguments)


def test_activations_have_a_name_or_a_mapping():
    assert pipelines.activation("s0", False) == {"s0": False}
    assert pipelines.activation("s0") == {"s0": True}
    assert pipelines.activation({"a": True, "b": False}) == {"a": True, "b": False}
    with pytest.raises(InvalidArgument):
        pipelines.activation({"a": True}, True)


def test_hexadecimal_colors():
    assert RGBA.hex("#ff0080") == RGBA(1, 0, 128 / 255)
    assert RGBA.hex("#00000000").alpha == 0
    for text in ("ff0080", "#ff00", "#ff 0080", "#gg0000", ""):
        with pytest.raises(InvalidArgument):
            RGBA.hex(text)
