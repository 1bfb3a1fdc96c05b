"""The server of `Examples/CustomFilters`, whose filter `slow` takes a stated time per frame."""

import tempfile
from typing import Self

import grpc

from .programs import START_SECONDS, Program, binary


class CustomFilters(Program):
    """The example's server on a Unix socket."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sidelight-call-")
        self.address = f"unix:{self._folder.name}/sidelight.sock"
        # dev/build examples builds it next to the command.
        program = binary().parent / "CustomFilters"
        if not program.is_file():
            raise FileNotFoundError(f"{program} is not built; run dev/build examples")
        super().__init__(program, self.address)

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            with grpc.insecure_channel(self.address) as channel:
                grpc.channel_ready_future(channel).result(timeout=START_SECONDS)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._folder.cleanup()
