"""What of this computer can be used."""

from ordito import _ordito


class Findings(list[tuple[str, bool, str]]):
    """Name, whether it can be used, what was found or what to do. Shown a line each."""

    def __repr__(self) -> str:
        lines = [f"ordito {_ordito.__version__}"]
        lines += [f"{'ok' if usable else 'note':>5}  {name:<10} {text}" for name, usable, text in self]
        return "\n".join(lines)


def doctor() -> Findings:
    """What was found of processor, GPU and compiler, and what to install where something is missing.

    >>> import ordito
    >>> [name for name, usable, text in ordito.doctor()][:2]
    ['processor', 'threads']
    """
    return Findings(_ordito.doctor())
