"""Pipelines with long strings, for the tests of this folder and for the stress test."""

from sidelight_testing.contract import pipeline as messages
from sidelight_testing.session import pipeline

MIB = 1 << 20
# A little less than the largest message of a method that takes no pixels.
LONG = "x" * (MIB - 1024)


def named(identifier: str):
    """Returns a pipeline of one stage with an ID."""
    result = pipeline("colorInvert")
    result.stages[0].id = identifier
    return result


def with_filter(name: str, **parameters: object):
    """Returns a pipeline of one filter with text parameters."""
    values = {key: messages.ParameterValue(text=text) for key, text in parameters.items()}
    stage = messages.Stage(filter=messages.Filter(name=name, parameters=values))
    return messages.Pipeline(stages=[stage])


LONG_PIPELINES = {
    "a filter's name": with_filter(LONG),
    "a parameter's name": with_filter("sepiaTone", **{LONG: "much"}),
    "a choice": with_filter("boxBlur", border=LONG),
    "the text of a number": with_filter("sepiaTone", intensity=LONG),
    "the name of an asset": with_filter("overlay", asset=LONG),
}
