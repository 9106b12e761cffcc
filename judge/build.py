"""Builds the guest and compiles it for this machine, once, into a cache folder.

There are three guests (identity.py), and two files of each: the component, which componentize-py
makes of judge/guest/ (CPython with a snapshot of the started interpreter, about 35 MB, the same
for every machine), and its compiled form, which wasmtime makes for this machine's processor. Both
are written aside and renamed, under a lock, so that many processes may ask at once; a compiled
file carries its own digest, since wasmtime trusts what it loads. Nothing is downloaded.
`python -m judge.build` does it ahead of time.

Two builds are not the same to the byte, but behave the same where componentize.py can hold the
system's randomness still. Elsewhere sets of strings are ordered otherwise in each build; to have
the same verdicts on two machines, copy the components (`*.wasm`) from one cache to the other, and
remove the `*.cwasm` there.
"""

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from judge.componentize import SEED_BYTE_VARIABLE
from judge.engine import WASM_STACK_BYTES
from judge.identity import GUEST, Kind, engine_version, guest_hash
from judge.records import JudgeError

if TYPE_CHECKING:
    from wasmtime import Engine
    from wasmtime.component import Component

COMPONENTIZE = Path(__file__).with_name("componentize.py")
WORLDS = {
    Kind.candidate: ("guest", "app", 42),
    Kind.second: ("guest", "app", 7),
    Kind.checker: ("checker", "checker", 42),
}
"""The world of guest.wit, the module that exports it, and the byte that seeds its hashes."""
OLD_SECONDS = 30 * 24 * 3600
"""How long a guest of another version is kept."""
ENGINE_CONFIG = f"fuel, nan canonical, stack {WASM_STACK_BYTES}"
"""What engine.py sets; another setting makes other machine code."""


def default_cache_dir() -> Path:
    """Return the user's cache folder for the judge, by the custom of the system."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "selftrain" / "judge"


def component_path(cache_dir: Path, kind: Kind) -> Path:
    """Return where the component lies."""
    return cache_dir / f"{kind}-{guest_hash()}.wasm"


def compiled_path(cache_dir: Path, kind: Kind) -> Path:
    """Return where the compiled guest of this machine lies."""
    machine = (engine_version(), ENGINE_CONFIG, platform.system(), processor())
    digest = hashlib.sha256(repr(machine).encode()).hexdigest()[:16]
    return cache_dir / f"{kind}-{guest_hash()}-{platform.machine()}-{digest}.cwasm"


def processor() -> str:
    """Return what tells processors apart whose machine code differs."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    kinds = ("flags", "Features", "model name")
    return "\n".join(sorted({line for line in lines if line.startswith(kinds)}))


def load(engine: "Engine", cache_dir: Path, kind: Kind) -> "Component":
    """Return the compiled guest, building whatever of it is missing or damaged."""
    from filelock import FileLock

    try:
        path = compiled_path(cache_dir, kind)
        component = read_compiled(engine, path)
        if component is None:
            cache_dir.mkdir(parents=True, exist_ok=True)
            with FileLock(cache_dir / "build.lock"):
                # Another process may have built it while this one waited.
                component = read_compiled(engine, path)
                if component is None:
                    component = build(engine, cache_dir, kind)
    except OSError as error:
        raise JudgeError(
            f"the judge's guest cannot be kept in {cache_dir}: {error}. "
            "Make room there, or name another place in XDG_CACHE_HOME"
        ) from error
    return component


def read_compiled(engine: "Engine", path: Path) -> "Component | None":
    """Return the compiled guest in path; None where there is none or it is damaged."""
    from wasmtime import WasmtimeError
    from wasmtime.component import Component

    digest_path = path.with_suffix(".sha256")
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest.encode() != digest_path.read_bytes():
            return None
        return Component.deserialize_file(engine, str(path))
    except (FileNotFoundError, WasmtimeError):
        return None


def build(engine: "Engine", cache_dir: Path, kind: Kind) -> "Component":
    """Build what is missing, with one line on standard error."""
    from wasmtime import WasmtimeError
    from wasmtime.component import Component

    print(
        f"judge: building its Python guest '{kind}' in {cache_dir} (once, about 30 seconds)",
        file=sys.stderr,
        flush=True,
    )
    path = component_path(cache_dir, kind)
    try:
        component = Component.from_file(engine, path)
    except (FileNotFoundError, WasmtimeError):
        write_whole(path, componentize(kind))
        component = Component.from_file(engine, path)
    code = bytes(component.serialize())
    compiled = compiled_path(cache_dir, kind)
    write_whole(compiled.with_suffix(".sha256"), hashlib.sha256(code).hexdigest().encode())
    write_whole(compiled, code)
    remove_old(cache_dir)
    return component


def remove_old(cache_dir: Path) -> None:
    """Remove the guests of other versions, a hundred megabytes each, that are a month old."""
    for path in cache_dir.glob("*-*.*wasm"):
        if guest_hash() not in path.name and time.time() - path.stat().st_mtime > OLD_SECONDS:
            path.unlink(missing_ok=True)
            path.with_suffix(".sha256").unlink(missing_ok=True)


def componentize(kind: Kind) -> bytes:
    """Return the component made of judge/guest/."""
    world, app, seed_byte = WORLDS[kind]
    with tempfile.TemporaryDirectory() as folder:
        # A copy, since the guest's Python writes its caches beside what it imports.
        sources, output = Path(folder) / "guest", Path(folder) / "guest.wasm"
        shutil.copytree(GUEST, sources, ignore=shutil.ignore_patterns("__pycache__"))
        if kind is Kind.second:
            variant = sources / "variant.py"
            variant.write_text(variant.read_text().replace("NUMBER = 0", "NUMBER = 1"))
        # An empty environment, since the guest is also shown the site-packages it finds.
        (Path(folder) / "empty/lib/python3/site-packages").mkdir(parents=True)
        arguments = ["-q", "-d", str(sources / "guest.wit"), "-w", world, "componentize"]
        arguments += ["--stub-wasi", "-p", str(sources), app, "-o", str(output)]
        done = subprocess.run(
            [sys.executable, "-P", str(COMPONENTIZE), *arguments],
            check=False,
            capture_output=True,
            text=True,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            env={
                **os.environ,
                "VIRTUAL_ENV": str(Path(folder) / "empty"),
                SEED_BYTE_VARIABLE: str(seed_byte),
            },
        )
        if done.returncode or not output.exists():
            reason = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()
            raise JudgeError("componentize-py cannot build the guest: " + " ".join(reason[:6]))
        return output.read_bytes()


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that no reader ever sees a part of it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def main(arguments: list[str] | None = None) -> None:
    """Build the guests into the cache, where they are not there."""
    from judge.engine import Guest

    parser = argparse.ArgumentParser(prog="python -m judge.build", description=main.__doc__)
    parser.add_argument("--cache", type=Path, default=default_cache_dir(), help="the cache folder")
    cache_dir: Path = parser.parse_args(arguments).cache
    for kind in Kind:
        Guest.start(cache_dir, kind)
        print(f"{engine_version()}, guest {guest_hash()}: {compiled_path(cache_dir, kind)}")


if __name__ == "__main__":
    main()
