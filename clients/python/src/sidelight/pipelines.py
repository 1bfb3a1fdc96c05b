"""Pipelines: filters in sequence, as text or as stages.

Wherever a pipeline is expected, these are accepted:

- `None`: the empty pipeline, which returns every frame unchanged;
- a text, which the server parses: `"sepiaTone(intensity: 0.8), vignette"`;
- a `Stage`, for example of `sidelight.filters`;
- a list of stages and pipelines;
- a `Pipeline`.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Optional, Union

from ._validation import finite, invalid, one_of
from ._values import (
    RGBA,
    Length,
    LengthLike,
    LengthUnit,
    Point,
    Region,
    Value,
    height,
    px,
    region_message,
    region_of,
    short_side,
    value_message,
    value_of,
    width,
)
from .v1 import pipeline_pb2, session_pb2

__all__ = [
    "RGBA",
    "FailurePolicy",
    "FailurePolicyLike",
    "Length",
    "LengthLike",
    "LengthUnit",
    "Pipeline",
    "PipelineLike",
    "Point",
    "Region",
    "Stage",
    "StageLike",
    "Updates",
    "Value",
    "WorkingSpace",
    "height",
    "px",
    "short_side",
    "width",
]


class FailurePolicy(enum.Enum):
    """The handling of frames for which a stage fails."""

    #: The input comes back, with the failure.
    PASS_THROUGH = "pass_through"
    #: The frame is dropped.
    DROP = "drop"
    #: The strongly blurred input comes back, with the failure.
    BLUR = "blur"


#: A failure policy, or its name.
FailurePolicyLike = Union[FailurePolicy, Literal["pass_through", "drop", "blur"]]


class WorkingSpace(enum.Enum):
    """The colour space in which filters compute."""

    #: Gamma-encoded sRGB, as stored.
    GAMMA = "gamma"
    #: Linear light: decoded before the first stage and encoded after the last.
    LINEAR = "linear"


@dataclass(frozen=True)
class Stage:
    """A step of a pipeline: a filter with parameters, or a nested pipeline.

    The methods return changed copies: `sepia_tone(intensity=0.8).named("look").mix(0.5)`.
    """

    #: The name of the filter ("sepiaTone" or "CISepiaTone"), or a nested pipeline.
    content: Union[str, Pipeline]
    #: The parameters that differ from their defaults. Names are from the catalogue
    #: ("sharpness") or have underscores ("input_sharpness"); entries that are `None` are left out.
    parameters: Mapping[str, Optional[Value]] = field(default_factory=dict)
    #: The name by which `Session.update` and `Session.activate` refer to the stage.
    id: str = ""
    #: Whether the stage is active. An inactive stage has no effect.
    active: bool = True
    #: The weight of the stage's result, from 0 (only the input) to 1 (only the result).
    weight: float = 1.0
    #: The part of the frame that shows the result. `None`: the whole frame.
    area: Optional[Region] = None
    #: The handling of frames for which the stage fails. `None`: the session's policy.
    failure_policy: Optional[FailurePolicy] = None

    def named(self, id: str) -> Stage:
        """Returns the stage with a name for `Session.update` and `Session.activate`."""
        return replace(self, id=id)

    def mix(self, weight: float) -> Stage:
        """Returns the stage with a weight of its result, from 0 (only the input) to 1."""
        return replace(self, weight=finite("mix", weight, 0, 1))

    def region(
        self, x: LengthLike, y: LengthLike, width: LengthLike, height: LengthLike
    ) -> Stage:
        """Returns the stage with a rectangle of the frame that shows its result."""
        return replace(self, area=Region(x, y, width, height))

    def off(self) -> Stage:
        """Returns the stage inactive. `Session.activate` activates it."""
        return replace(self, active=False)

    def on_failure(self, policy: FailurePolicyLike) -> Stage:
        """Returns the stage with a policy for frames for which it fails."""
        return replace(self, failure_policy=failure_policy_of("on_failure", policy))

    def message(self, field: str = "pipeline.stages[0]") -> pipeline_pb2.Stage:
        """Returns the stage as a message; errors begin with `field`."""
        message = pipeline_pb2.Stage(id=self.id)
        if isinstance(self.content, Pipeline):
            message.pipeline.CopyFrom(self.content.message(f"{field}.pipeline"))
            message.pipeline.SetInParent()
        elif isinstance(self.content, str):
            message.filter.name = self.content
            set_parameters(message.filter.parameters, f"{field}.filter", self.parameters)
        else:
            raise invalid(f"{field}.content", self.content, "the name of a filter, or a Pipeline")
        if not self.active:
            message.active = False
        if self.weight != 1:
            message.mix = finite(f"{field}.mix", self.weight, 0, 1)
        if self.area is not None:
            message.region.CopyFrom(region_message(f"{field}.region", self.area))
        if self.failure_policy is not None:
            message.failure_policy = FAILURE_POLICIES[self.failure_policy]
        return message

    @classmethod
    def of(cls, message: pipeline_pb2.Stage) -> Stage:
        """Returns the stage of a message."""
        is_filter = message.WhichOneof("content") == "filter"
        parameters = message.filter.parameters.items()
        return cls(
            message.filter.name if is_filter else Pipeline.of(message.pipeline),
            {name: value_of(value) for name, value in sorted(parameters)},
            message.id,
            message.active if message.HasField("active") else True,
            message.mix if message.HasField("mix") else 1.0,
            region_of(message.region) if message.HasField("region") else None,
            _POLICY_OF.get(message.failure_policy),
        )


@dataclass(frozen=True, init=False)
class Pipeline:
    """Filters that run in sequence. An empty pipeline returns every frame unchanged."""

    #: The stages, first to last.
    stages: tuple[Stage, ...]
    #: The colour space in which the filters compute. `None`: the enclosing pipeline's, else
    #: gamma-encoded sRGB.
    working_space: Optional[WorkingSpace]

    def __init__(
        self,
        stages: Union[StageLike, Iterable[StageLike]] = (),
        *,
        working_space: Union[WorkingSpace, Literal["gamma", "linear"], None] = None,
    ) -> None:
        """Creates a pipeline from stages; a pipeline among them becomes a nested pipeline."""
        if isinstance(stages, (Stage, Pipeline, str)):
            stages = (stages,)
        object.__setattr__(self, "stages", tuple(map(_stage, stages)))
        if isinstance(working_space, str):
            try:
                working_space = WorkingSpace(working_space)
            except ValueError:
                raise one_of("working_space", working_space, ("gamma", "linear")) from None
        object.__setattr__(self, "working_space", working_space)

    def named(self, id: str) -> Stage:
        """Returns a stage with this pipeline nested, and a name."""
        return Stage(self, id=id)

    def mix(self, weight: float) -> Stage:
        """Returns a stage with this pipeline nested, and a weight of its result."""
        return Stage(self).mix(weight)

    def message(self, field: str = "pipeline") -> pipeline_pb2.Pipeline:
        """Returns the pipeline as a message; errors begin with `field`."""
        return pipeline_pb2.Pipeline(
            stages=[
                stage.message(f"{field}.stages[{index}]") for index, stage in enumerate(self.stages)
            ],
            working_space=_WORKING_SPACES[self.working_space] if self.working_space else None,
        )

    @classmethod
    def of(cls, message: pipeline_pb2.Pipeline) -> Pipeline:
        """Returns the pipeline of a message."""
        return cls(
            map(Stage.of, message.stages), working_space=_SPACE_OF.get(message.working_space)
        )


#: A stage, a pipeline that becomes a nested one, or the name of a filter.
StageLike = Union[Stage, Pipeline, str]
#: A pipeline in any form that is accepted.
PipelineLike = Union[None, str, Stage, Pipeline, Iterable[StageLike]]
#: Values by parameter name, by the ID or position of the stage.
Updates = Mapping[str, Mapping[str, Value]]

FAILURE_POLICIES: dict[FailurePolicy, pipeline_pb2.FailurePolicy] = {
    FailurePolicy.PASS_THROUGH: pipeline_pb2.FAILURE_POLICY_PASS_THROUGH,
    FailurePolicy.DROP: pipeline_pb2.FAILURE_POLICY_DROP,
    FailurePolicy.BLUR: pipeline_pb2.FAILURE_POLICY_BLUR,
}
_POLICY_OF = {int(number): policy for policy, number in FAILURE_POLICIES.items()}
_WORKING_SPACES: dict[WorkingSpace, pipeline_pb2.WorkingSpace] = {
    WorkingSpace.GAMMA: pipeline_pb2.WORKING_SPACE_SRGB_GAMMA,
    WorkingSpace.LINEAR: pipeline_pb2.WORKING_SPACE_SRGB_LINEAR,
}
_NAME = re.compile(r"\w+")
_SPACE_OF = {int(number): space for space, number in _WORKING_SPACES.items()}


def failure_policy_of(field: str, policy: FailurePolicyLike) -> FailurePolicy:
    """Returns the failure policy of a name; a policy is returned as it is."""
    try:
        return FailurePolicy(policy)
    except ValueError:
        raise one_of(field, policy, (each.value for each in FailurePolicy)) from None


def source_of(pipeline: PipelineLike) -> Union[str, pipeline_pb2.Pipeline]:
    """Returns a pipeline in the form in which it is sent: its text, or a message."""
    if isinstance(pipeline, str):
        return pipeline
    if pipeline is None:
        return pipeline_pb2.Pipeline()
    if isinstance(pipeline, Pipeline):
        return pipeline.message()
    try:
        return Pipeline(pipeline).message()
    except TypeError:
        requirement = "a text, Stage, Pipeline, list of them, or None"
        raise invalid("pipeline", pipeline, requirement) from None


def update_message(
    changes: Union[str, Updates], value: Optional[Value] = None
) -> list[session_pb2.Update.StageParameters]:
    """Returns the content of an update.

    - changes: The path `"STAGE.PARAMETER"` with a value, or values by parameter by stage.
    - value: The value for a path.
    """
    if isinstance(changes, str):
        stage, _, parameter = changes.rpartition(".")
        if not stage or not parameter:
            raise invalid("path", changes, 'a stage and a parameter, such as "s0.scale"')
        if value is None:
            raise invalid(changes, None, "a value")
        changes = {stage: {parameter: value}}
    elif value is not None:
        raise invalid("value", value, "None unless a path is given")
    messages = []
    for stage, parameters in changes.items():
        message = session_pb2.Update.StageParameters(stage=stage)
        set_parameters(message.parameters, stage, parameters)
        messages.append(message)
    return messages


def activation(
    changes: Union[str, Mapping[str, bool]], active: Optional[bool] = None
) -> dict[str, bool]:
    """Returns the content of an activation: whether every stage is active, by ID or position."""
    if isinstance(changes, str):
        changes = {changes: True if active is None else active}
    elif active is not None:
        raise invalid("active", active, "None unless one stage is given")
    return {stage: bool(is_active) for stage, is_active in changes.items()}


def set_parameters(
    target: object, field: str, parameters: Mapping[str, Optional[Value]]
) -> None:
    """Sets the values of a message's map of parameters; entries that are `None` are left out."""
    for name, value in parameters.items():
        if value is not None:
            message = value_message(f"{field}.parameters[{name!r}]", value)
            target[wire_name(name)].CopyFrom(message)  # type: ignore[index]


def wire_name(name: str) -> str:
    """Returns a name in lower camel case: `focal_length` is `focalLength`, `class_` is `class`."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _stage(stage: StageLike) -> Stage:
    if isinstance(stage, Stage):
        return stage
    if isinstance(stage, str) and not _NAME.fullmatch(stage):
        requirement = "the name of a filter; a text with parameters must be the whole pipeline"
        raise invalid("pipeline.stages", stage, requirement)
    if isinstance(stage, (Pipeline, str)):
        return Stage(stage)
    raise invalid("pipeline.stages", stage, "a Stage, a Pipeline or the name of a filter")
