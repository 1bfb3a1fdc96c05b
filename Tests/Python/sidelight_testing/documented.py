"""The pipelines in documentation, help, pages and examples."""

import json
import re
import subprocess
from pathlib import Path

from .command import sidelight
from .contract import REPOSITORY

SOURCES = [
    "*.md", "clients/python/src/*.py", "clients/python/examples/*.py", "clients/cpp/include/*.hpp",
    "clients/web/*.js", "Examples/*.py", "Examples/*.go", "Examples/*.cpp", "Examples/*.swift",
    "Examples/call/page/*.html", "Examples/call/page/*.js", "Sources/Studio/Page/*.html",
    "Sources/Studio/Page/*.js", "dev/demo",
]
# Records, which do not change, and a page with the defaults of all filters.
LEFT_OUT = ("docs/decisions/", "Benchmarks/Results/", "docs/reference/filters.md", "CHANGELOG.md")
VERBS = [
    "", "serve", "studio", "stream", "apply", "check", "filters", "assets", "assets put",
    "assets list", "assets delete", "sessions", "sessions list", "sessions override", "sessions move",
    "sessions close", "load", "settings",
]


class Catalogue:
    """The names of the command's filters."""

    def __init__(self) -> None:
        # Also filters that this build lacks.
        described = json.loads(sidelight("filters", "--all", "--json").stdout)["filters"]
        self.names = {each["name"] for each in described}
        self.analyses = {each["name"] for each in described if each["category"] == "analysis"}
        of_filters = {each["name"]: each.get("parameters", []) for each in described}
        parameters = [each for listed in of_filters.values() for each in listed]
        self.parameters = {each["name"] for each in parameters}
        self.assets = {each["name"] for each in parameters if each["kind"].endswith("ASSET")}
        self.required = {
            name: [each["name"] for each in listed if "defaultValue" not in each]
            for name, listed in of_filters.items()
        }

    def begins(self, text: str, alone: bool) -> bool:
        """Whether a text may be a pipeline; `alone` is whether one name without parameters may."""
        first = re.match(r"(?:@\w+ )?\[*(?:\w+: )?(\w+)(?=[(,\]]|\s*@|$)", text)
        # Permissions of filters have patterns.
        if not first or first[1] not in self.names or "..." in text or re.search(r"\w\*(,|$)", text):
            return False
        is_name = text in self.names
        return not is_name or (alone and text not in self.parameters and self.is_complete(text))

    def is_complete(self, text: str) -> bool:
        """Whether a pipeline of one filter has the parameters without defaults."""
        required = self.required.get(text.partition("(")[0], [])
        return all(f"{name}: " in text for name in required)


def files() -> dict[str, str]:
    """The texts of the files with examples, by path."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *SOURCES],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    ).stdout.split()
    return {
        name: (REPOSITORY / name).read_text()
        for name in listed
        if not name.startswith(LEFT_OUT) and "/Generated/" not in name
    }


def quoted(code: str) -> list[str]:
    """The contents of quotation marks."""
    return re.findall(r"'([^'\n]+)'", code) + re.findall(r'"((?:[^"\\\n]|\\.)+)"', code)


def typed(code: str) -> list[str]:
    """The pipelines of typed filters in Swift, as text: `Pipeline { .sepiaTone(intensity: 0.8) }`,
    also in several lines, and lists of filters."""
    bodies = re.findall(r"Pipeline \{\s*(\..*?)\}", code, flags=re.DOTALL)
    bodies += re.findall(r"\[\s*(\.[^\[\]]*?)\]", code)
    separator = re.compile(r"\s*[;,\n]\s*\.")
    found = [", ".join(separator.split(body.strip(" \n,."))) for body in bodies]
    # Lengths: `.width(0.02)` is `0.02w`.
    return [re.sub(r"\.([wh])\w+\(([\d.]+)\)", r"\2\1", each) for each in found]


def of_page(text: str, catalogue: Catalogue) -> list[str]:
    """The pipelines of a page in Markdown: in code, also single names, and in prose."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    code = "\n".join(block for language, block in blocks if language not in ("", "text"))
    found = quoted(code) + typed(code)
    for language, block in blocks:
        if language in ("", "text"):
            # A pipeline may go on in the next line.
            found += [each.strip() for each in re.split(r"\n(?!\s+\w+:)", block)]
    found = [each for each in found if catalogue.begins(each, alone=True)]
    spans = re.findall(r"`([^`\n]+)`", prose)
    return found + [each for each in spans if catalogue.begins(each, alone=False)]


def of_help(text: str, catalogue: Catalogue) -> list[str]:
    """The pipelines of a help: quoted, or alone in a line."""
    lines = [line.strip() for line in text.splitlines() if "'" not in line]
    found = quoted(" ".join(text.split())) + lines
    return [each for each in found if catalogue.begins(each, alone=True)]


def pipelines(catalogue: Catalogue) -> dict[str, list[str]]:
    """All pipelines by the place where they are."""
    found = {}
    for name, text in files().items():
        if name == "docs/guides/kernels.md":
            # Its functions have the names of filters; their arguments have no names.
            texts = of_page(text, catalogue)
            found[name] = [each for each in texts if re.match(r"\w+(\(\w+:|$)", each)]
        elif name.endswith(".md"):
            found[name] = of_page(text, catalogue)
        else:
            alone = name == "dev/demo"
            found[name] = [each for each in quoted(text) if catalogue.begins(each, alone)]
            if name.endswith((".swift", ".js")):
                # Also in comments.
                texts = typed(text) + re.findall(r"`([^`\n]+)`", text)
                found[name] += [each for each in texts if catalogue.begins(each, alone=False)]
    for verb in VERBS:
        text = sidelight(*verb.split(), "--help").stdout.decode()
        found[f"sidelight {verb} --help"] = of_help(text, catalogue)
    return {name: texts for name, texts in found.items() if texts}


def assets_of(text: str, catalogue: Catalogue) -> dict[str, str]:
    """The names of a pipeline's assets, with the parameters that name them."""
    named = re.findall(r"(\w+): (?:\"([^\"]*)\"|([A-Za-z_][\w.-]*))", text)
    return {
        quoted or word: parameter
        for parameter, quoted, word in named
        if parameter in catalogue.assets and word != "source"
    }


def media(name: str) -> Path | None:
    """The picture of that name in Examples/media; `None` if there is none."""
    found = [*(REPOSITORY / "Examples/media").glob(f"{Path(name).stem}.*")]
    return found[0] if found else None
