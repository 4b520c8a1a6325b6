"""Amounts for people to read."""


def human_bytes(size: float) -> str:
    """1536 is "1.5 KiB"."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{size:.4g} {unit}"


def human_seconds(seconds: float) -> str:
    """0.0015 is "1.5 ms"."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
