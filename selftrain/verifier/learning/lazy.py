"""A verifier that is loaded when first asked, and kept until another one is or it is released.

It scores nothing itself; what is in a verifier's folder is said in network.py.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from selftrain.config import ModelConfig

if TYPE_CHECKING:
    from selftrain.verifier.learning.network import Verifier


class LazyVerifier:
    """One trained verifier at a time."""

    def __init__(self, how: ModelConfig) -> None:
        self._how = how
        self._folder: Path | None = None
        self._loaded: Verifier | None = None

    def of(self, folder: Path) -> "Verifier":
        """Give the verifier of a folder. Raises UsageError where the folder holds none."""
        from selftrain.verifier.learning.network import load

        if self._loaded is None or self._folder != folder:
            self.release()  # first, so that never two of them fill the memory
            self._loaded, self._folder = load(folder, self._how), folder
        return self._loaded

    def release(self) -> None:
        """Give its memory back; it is loaded again when next asked."""
        self._loaded = self._folder = None
