"""Runs the programs of a page in order: page.py FILE ADDRESS. The address replaces the documented one."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import sys
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
DOCUMENTED_ADDRESS = "127.0.0.1:50051"


def run(page: Path, address: str) -> None:
    """Runs the programs in one namespace. Errors name the line of the page."""
    namespace: dict[str, Any] = {"__name__": "program"}
    text = page.read_text()
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        program = "\n" * line + block[1].replace(DOCUMENTED_ADDRESS, address)
        code = compile(program, str(page), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, namespace)
        if inspect.iscoroutine(result):
            asyncio.run(result)
    if "server" in namespace:
        namespace["server"].close()


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2])
