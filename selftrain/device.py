"""The chip that a model computes on, and the precision it computes in."""

from typing import TYPE_CHECKING

from selftrain.errors import UsageError

if TYPE_CHECKING:
    import torch


def pick_device(name: str) -> "torch.device":
    """Give the device named, or for `auto` the first of cuda, mps, cpu that is there."""
    import torch

    if name == "auto":
        name = (
            "cuda"
            if torch.cuda.is_available()
            else "mps"
            if torch.backends.mps.is_available()
            else "cpu"
        )
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(
            f"model.device: {name!r} cannot be used here ({str(error).splitlines()[0]})."
        ) from None
    return torch.device(name)


def pick_dtype(name: str, device: "torch.device") -> "torch.dtype":
    """Give the precision named; `auto` is bfloat16 on a chip that computes in it, else float32."""
    import torch

    if name == "auto":
        return torch.bfloat16 if computes_in_bfloat16(device) else torch.float32
    return {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[name]


def computes_in_bfloat16(device: "torch.device") -> bool:
    """Tell whether a chip multiplies matrices in bfloat16, and faster than in float32.

    Of CPUs those with AMX; with AVX512_BF16 alone float32 is 1.4 to 2 times as fast (measured).
    """
    import torch

    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return device.type == "cpu" and bool(torch.cpu.get_capabilities().get("amx_bf16", False))
