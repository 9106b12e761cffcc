"""Read a puzzle file, plain or gzip, with errors that a person can act on."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast


class PuzzleFileError(ValueError):
    """A puzzle file that cannot be used; the message says where, what is wrong and what to do."""


@contextmanager
def reading(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, through gzip where its name ends in .gz; raise PuzzleFileError where it can't be
    read.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield cast(IO[bytes], file)
    except FileNotFoundError:
        raise PuzzleFileError(f"{path}: there is no such file. Check the path.") from None
    except IsADirectoryError:
        raise PuzzleFileError(f"{path}: this is a folder. Name a file in it.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise PuzzleFileError(
            f"{path}: this is no complete gzip file. Download or compress it again."
        ) from None
    except OSError as error:
        raise PuzzleFileError(f"{path}: it cannot be read ({error.strerror}).") from None


def read_text(path: Path) -> str:
    """Read a UTF-8 file whole, through gzip where its name ends in .gz."""
    with reading(path) as file:
        data = file.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PuzzleFileError(
            f"{path}: byte {error.start} is not UTF-8. Save the file as UTF-8."
        ) from None
    if not text.strip():
        raise PuzzleFileError(f"{path}: the file is empty, and at least one puzzle is needed.")
    return text
