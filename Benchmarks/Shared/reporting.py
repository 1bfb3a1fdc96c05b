"""Parts of the reports that the drivers of the benchmarks write: tables in Markdown, and a
description of the machine."""

import os
import platform
from pathlib import Path


def table(header: list[str], lines: list[list[str]], words: int = 1) -> str:
    """Returns a table in Markdown. The first `words` columns hold words, the others hold numbers."""
    rows = [header, ["---"] * words + ["--:"] * (len(header) - words), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def machine() -> str:
    """Processor, instruction set, architecture, cores, memory and kernel."""
    cores = f"{platform.machine()}, {os.cpu_count()} cores"
    try:
        text = Path("/proc/cpuinfo").read_text()
        model = text.split("model name")[1].split(":")[1]
        flags = text.partition("flags")[2].splitlines()[0].split()
        names = {"avx512bw": "AVX-512", "avx2": "AVX2"}
        widest = next((name for flag, name in names.items() if flag in flags), "")
        memory = int(Path("/proc/meminfo").read_text().split()[1]) >> 20
    except (OSError, IndexError):
        return f"{platform.processor()}, {cores}, {platform.system()} {platform.release()}"
    model = model.splitlines()[0].strip() + (f" ({widest})" if widest else "")
    return f"{model}, {cores}, {memory} GiB, Linux {platform.release()}"


def load_average() -> str:
    """The load average of the last minute, which shows whether other programs were running."""
    try:
        return f"{os.getloadavg()[0]:.2f}"
    except OSError:
        return "?"
