"""Read the text of a puzzle file, plain or gzip, with errors that a person can act on."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path


class PuzzleFileError(ValueError):
    """A puzzle file that cannot be used; the message says where, what is wrong and what to do."""


def read_text(path: Path) -> str:
    """Read a UTF-8 file, through gzip where its name ends in .gz."""
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        text = data.decode("utf-8-sig")
    except FileNotFoundError:
        raise PuzzleFileError(f"{path}: there is no such file. Check the path.") from None
    except IsADirectoryError:
        raise PuzzleFileError(f"{path}: this is a folder. Name a file in it.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise PuzzleFileError(
            f"{path}: this is no complete gzip file. Download or compress it again."
        ) from None
    except UnicodeDecodeError as error:
        raise PuzzleFileError(
            f"{path}: byte {error.start} is not UTF-8. Save the file as UTF-8."
        ) from None
    except OSError as error:
        raise PuzzleFileError(f"{path}: it cannot be read ({error.strerror}).") from None
    if not text.strip():
        raise PuzzleFileError(f"{path}: the file is empty, and at least one puzzle is needed.")
    return text
