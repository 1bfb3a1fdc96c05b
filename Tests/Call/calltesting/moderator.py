"""A moderator: the page of `Examples/call` for moderators."""

from .devtools import DevTools, Page
from .participant import Participant, click, enter


class Moderator:
    """A moderator's page in a window."""

    def __init__(self, browser: DevTools, address: str) -> None:
        self.page: Page = browser.open(address)

    def override(
        self, participant: Participant, pipeline: str, seconds: int, reason: str
    ) -> None:
        """Forces a pipeline on a participant. Returns at once."""
        click(self.page, f"{self._row(participant)} [data-action='override']")
        enter(self.page, "#override-pipeline", pipeline)
        enter(self.page, "#override-seconds", str(seconds))
        enter(self.page, "#override-reason", reason)
        click(self.page, "#override-send")

    def end_override(self, participant: Participant) -> None:
        """Ends the override of a participant. Returns at once."""
        click(self.page, f"{self._row(participant)} [data-action='end-override']")

    def _row(self, participant: Participant) -> str:
        return f"#sessions tr[data-participant='{participant.room}/{participant.name}']"
