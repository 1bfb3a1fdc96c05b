"""A selected pipeline with the updates and activations since."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..v1 import pipeline_pb2, session_pb2
from .protection import protection_of_message, protection_of_text


class Selection:
    """The pipeline of a `Select`, and the parameters and activations that were set since.

    The pipeline can be a text, which the client does not parse. Updates and activations are
    therefore kept as messages.
    """

    def __init__(self, select: session_pb2.Select) -> None:
        self.select = session_pb2.Select()
        self._update = session_pb2.Update()
        self._activate = session_pb2.Activate()
        self._replace(select)

    def _replace(self, select: session_pb2.Select) -> None:
        self.select.CopyFrom(select)
        self.select.ClearField("if_revision")
        self.select.ClearField("transition")
        self._update.Clear()
        self._activate.Clear()
        self._protection: Any = None

    def copy(self) -> Selection:
        """Returns an independent copy."""
        other = Selection(self.select)
        other._update.CopyFrom(self._update)
        other._activate.CopyFrom(self._activate)
        return other

    def apply(self, message: Any) -> None:
        """Applies a `Select`, an `Update` or an `Activate`."""
        if isinstance(message, session_pb2.Select):
            self._replace(message)
        elif isinstance(message, session_pb2.Update):
            merge_update(self._update, message)
        else:
            for stage, is_active in message.stages.items():
                self._activate.stages[stage] = is_active
        self._protection = None

    def messages(self) -> Iterator[Any]:
        """Yields copies of the messages that lead to this selection."""
        select, update, activate = (
            session_pb2.Select(),
            session_pb2.Update(),
            session_pb2.Activate(),
        )
        select.CopyFrom(self.select)
        yield select
        if self._update.stages:
            update.CopyFrom(self._update)
            yield update
        if self._activate.stages:
            activate.CopyFrom(self._activate)
            yield activate

    @property
    def protection(self) -> frozenset[str]:
        """The parts of frames that the pipeline may hide."""
        if self._protection is None:
            if self.select.WhichOneof("pipeline_source") == "pipeline_text":
                self._protection = protection_of_text(self.select.pipeline_text)
            else:
                self._protection = protection_of_message(self._pipeline())
        found: frozenset[str] = self._protection
        return found

    def _pipeline(self) -> pipeline_pb2.Pipeline:
        """Returns the pipeline after the updates and activations.

        One that names an unknown stage is refused by the server; where this client does not find a
        stage that the server finds, every stage counts as active and as protecting.
        """
        pipeline = pipeline_pb2.Pipeline()
        pipeline.CopyFrom(self.select.pipeline)
        stages = list(_paths(pipeline, ""))
        is_uncertain = False
        for key, is_active in self._activate.stages.items():
            found = [stage for path, stage in stages if key in (path, stage.id)]
            is_uncertain = is_uncertain or not found
            for stage in found[:1]:
                stage.active = is_active
        for change in self._update.stages:
            found = [stage for path, stage in stages if change.stage in (path, stage.id)]
            is_uncertain = is_uncertain or not found
            for stage in found[:1]:
                for name, value in change.parameters.items():
                    stage.filter.parameters[name].CopyFrom(value)
        if is_uncertain:
            for _, stage in stages:
                stage.active = True
                if stage.HasField("filter"):
                    stage.filter.ClearField("parameters")
        return pipeline


def _paths(pipeline: Any, prefix: str) -> list[tuple[str, Any]]:
    """Returns the stages of a pipeline with their paths."""
    found: list[tuple[str, Any]] = []
    for index, stage in enumerate(pipeline.stages):
        path = f"{prefix}stages[{index}]"
        found.append((path, stage))
        if stage.HasField("pipeline"):
            found.extend(_paths(stage.pipeline, f"{path}.pipeline."))
    return found


def merge_update(into: session_pb2.Update, other: session_pb2.Update) -> None:
    """Adds the parameters of an update to another."""
    stages = {each.stage: each for each in into.stages}
    for stage in other.stages:
        target = stages.get(stage.stage)
        if target is None:
            target = into.stages.add(stage=stage.stage)
        for name, value in stage.parameters.items():
            target.parameters[name].CopyFrom(value)
