"""The arguments of the command, and the exit codes: 0 success, 1 an error of the server or of the
connection, 2 invalid arguments, pipelines or files."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from .. import __version__, connect
from ..errors import InvalidArgument, NotFound, SidelightError
from ..sync import Server
from ..y4m import Y4MError
from . import check, filters, still, stream

__all__ = ["main"]

DEFAULT_SERVER = "127.0.0.1:50051"
SUCCESS, FAILURE, INVALID = 0, 1, 2


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit code."""
    options = _parser().parse_args(arguments)
    try:
        with _connect(options) as server:
            return int(options.run(server, options))
    except SidelightError as error:
        _report(error, getattr(options, "pipeline", None))
        return INVALID if isinstance(error, (InvalidArgument, NotFound)) else FAILURE
    except Y4MError as error:
        return _fail(str(error), INVALID)
    except BrokenPipeError:
        # The reader of the output has ended. Without this, Python would report it once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except OSError as error:
        return _fail(str(error), INVALID)
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sidelight", description="Filters pictures and videos with a server."
    )
    parser.add_argument("--version", action="version", version=f"sidelight {__version__}")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--server",
        metavar="ADDRESS",
        default=os.environ.get("SIDELIGHT_SERVER", DEFAULT_SERVER),
        help="HOST:PORT, unix:PATH or https://HOST:PORT; default: SIDELIGHT_SERVER, "
        f"else {DEFAULT_SERVER}",
    )
    common.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="file with a bearer token; default: the variable SIDELIGHT_TOKEN",
    )
    common.add_argument(
        "--root-certificates", type=Path, metavar="FILE", help="PEM file that TLS trusts"
    )
    common.add_argument(
        "--certificate", type=Path, metavar="FILE", help="PEM file with this client's certificate"
    )
    common.add_argument(
        "--private-key", type=Path, metavar="FILE", help="PEM file with the certificate's key"
    )
    common.add_argument("--participant", default="", metavar="NAME", help="whose video it is")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (still, stream, filters, check):
        command.add(commands, common)
    return parser


def _connect(options: argparse.Namespace) -> Server:
    token = os.environ.get("SIDELIGHT_TOKEN")
    if options.token_file:
        token = options.token_file.read_text().strip()
    names = ("root_certificates", "certificate", "private_key")
    files = {name: getattr(options, name) for name in names}
    contents = {name: file.read_bytes() for name, file in files.items() if file}
    return connect(options.server, token=token, **contents)


def _report(error: SidelightError, pipeline: Optional[str]) -> None:
    """Prints an error; if it has a position in the pipeline, with a caret under the character."""
    lines = pipeline.splitlines() if pipeline else []
    if error.line and error.column and error.line <= len(lines):
        line, column = lines[error.line - 1], error.column - 1
        # Tabs keep their width.
        indent = "".join("\t" if character == "\t" else " " for character in line[:column])
        print(f"error: {error.message.splitlines()[0]}", file=sys.stderr)
        print(f"  {line}\n  {indent}{' ' * max(0, column - len(line))}^", file=sys.stderr)
    else:
        print(f"error: {error.message}", file=sys.stderr)
    if error.suggestion and error.suggestion not in error.message:
        print(f"Did you mean {error.suggestion}?", file=sys.stderr)


def _fail(message: str, code: int) -> int:
    print(f"error: {message}", file=sys.stderr)
    return code
