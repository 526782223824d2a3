"""Averages of EEG epochs, and how well they are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordito._dense import column_stats
from ordito._sources import precision

__all__ = ["Condition", "Erp", "erp"]

Wave = NDArray[np.float64]


@dataclass(frozen=True)
class Condition:
    """The average of one kind of epochs: arrays of sensors × samples."""

    mean: Wave
    #: Standard error of the mean: s / √n with n − 1 in s; NaN of a single epoch.
    sem: Wave
    #: Epochs that went in.
    count: int
    #: Epochs that were left out, by their place.
    rejected: NDArray[np.intp]

    @property
    def global_field_power(self) -> Wave:
        """The standard deviation over sensors, at every sample."""
        return np.asarray(self.mean.std(axis=0))


@dataclass(frozen=True)
class Erp:
    """Event-related potentials, as :func:`erp` finds them."""

    target: Condition
    nontarget: Condition | None
    names: list[str]
    #: Seconds.
    times: Wave
    _info: Any = None

    @property
    def mean(self) -> Wave:
        """The target's average."""
        return self.target.mean

    @property
    def sem(self) -> Wave:
        """The target's standard error."""
        return self.target.sem

    @property
    def difference(self) -> Wave:
        """Target − nontarget."""
        return self.target.mean - self._other().mean

    @property
    def t(self) -> Wave:
        """Welch's t of the difference."""
        return self.difference / np.hypot(self.target.sem, self._other().sem)

    @property
    def degrees_of_freedom(self) -> Wave:
        """Of t, after Welch and Satterthwaite."""
        first, second = self.target, self._other()
        sum_of_both = (first.sem**2 + second.sem**2) ** 2
        parts = first.sem**4 / (first.count - 1) + second.sem**4 / (second.count - 1)
        return np.asarray(sum_of_both / parts)

    def _other(self) -> Condition:
        if self.nontarget is None:
            raise ValueError("there is no second condition: erp(target, nontarget) compares two")
        return self.nontarget

    def to_mne(self, of: str = "target") -> Any:
        """``"target"``, ``"nontarget"`` or ``"difference"`` as ``mne.EvokedArray``; needs mne. Numbers that were not MNE's are taken for
        volts.
        """
        import mne

        waves = {"target": self.target.mean}
        counts = {"target": self.target.count}
        if self.nontarget is not None:
            waves |= {"nontarget": self.nontarget.mean, "difference": self.difference}
            counts["nontarget"] = self.nontarget.count
            # As mne.combine_evoked counts it: the noise of a difference is that of so many epochs.
            counts["difference"] = max(1, round(1 / (1 / self.target.count + 1 / self.nontarget.count)))
        if of not in waves:
            raise ValueError(f"{of!r}: one of {', '.join(waves)} expected")
        info = self._info
        if info is None:
            step = self.times[1] - self.times[0] if self.times.size > 1 else 1.0
            info = mne.create_info(self.names, 1 / step, "eeg")
        return mne.EvokedArray(waves[of], info, tmin=float(self.times[0]), comment=of, nave=counts[of])


def erp(
    target: Any,
    nontarget: Any = None,
    *,
    rate: float | None = None,
    tmin: float = 0.0,
    names: list[str] | None = None,
    baseline: tuple[float | None, float | None] | None = None,
    reject: float | None = None,
    reference: str | None = None,
    threads: int | None = None,
) -> Erp:
    """Averages epochs of one condition, or of two and compares them.

    Parameters
    ----------
    target, nontarget
        Arrays of epochs × sensors × samples, or MNE ``Epochs``, whose names, times and good EEG channels are taken.
    rate
        Samples per second; of arrays only, 1 where nothing is said.
    tmin
        Time of the first sample in seconds; of arrays only.
    names
        Of the sensors; of arrays only, S1, S2 … where nothing is said.
    baseline
        From and to, in seconds: the mean of every sensor there is subtracted from it. None is the first or the last sample.
    reject
        Epochs in which a sensor moves farther than this, peak to peak, are left out.
    reference
        ``"average"`` subtracts the mean of all sensors at every sample.

    The reference comes first, then the baseline, then epochs are left out: as ``ordito erp`` does it.

    >>> import numpy as np
    >>> found = erp(np.array([[[1.0, 2.0]], [[3.0, 6.0]]]))
    >>> found.mean, found.sem
    (array([[2., 4.]]), array([[1., 2.]]))
    """
    first, montage = _epochs(target, "target")
    second, other_montage = (None, None) if nontarget is None else _epochs(nontarget, "nontarget")
    if montage is None:
        rate = 1.0 if rate is None else rate
        if not rate > 0:
            raise ValueError(f"rate={rate}: samples per second expected, above 0")
        numbered = [f"S{sensor + 1}" for sensor in range(first.shape[1])]
        montage = _Montage(numbered if names is None else list(names), tmin + np.arange(first.shape[2]) / rate)
    elif rate is not None or names is not None or tmin != 0.0:
        raise TypeError("rate, tmin and names are those of the Epochs")
    elif other_montage is not None and not montage.is_like(other_montage):
        raise ValueError("target and nontarget have other channels or times: both must be cut and picked alike")
    if len(montage.names) != first.shape[1]:
        raise ValueError(f"{len(montage.names)} names for {first.shape[1]} sensors")
    if reference not in (None, "average"):
        raise ValueError(f'reference={reference!r}: "average" or None expected')
    window = None if baseline is None else _window(montage.times, baseline)
    if second is not None and second.shape[1:] != first.shape[1:]:
        raise ValueError(f"epochs of {first.shape[1]}×{first.shape[2]} and of {second.shape[1]}×{second.shape[2]} cannot be compared")

    def condition(epochs: NDArray[Any], what: str) -> Condition:
        prepared = _preprocessed(epochs, window, reference)
        rejected = np.array([], dtype=np.intp)
        if reject is not None:
            moves = (prepared.max(axis=2) - prepared.min(axis=2)).max(axis=1)
            rejected = np.flatnonzero(~(moves <= reject))
            prepared = prepared[moves <= reject]
        if prepared.shape[0] == 0:
            raise ValueError(f"{what}: none of {epochs.shape[0]} epochs is left")
        found = column_stats(prepared, threads=threads)
        return Condition(found.mean, found.sem, found.count, rejected)

    other = None if second is None else condition(second, "nontarget")
    return Erp(condition(first, "target"), other, *montage)


class _Montage(NamedTuple):
    """Where and when was measured."""

    names: list[str]
    times: Wave
    #: Of MNE.
    info: Any = None

    def is_like(self, other: _Montage) -> bool:
        same_times = self.times.shape == other.times.shape and np.allclose(self.times, other.times)
        return self.names == other.names and bool(same_times)


def _epochs(epochs: Any, what: str) -> tuple[NDArray[Any], _Montage | None]:
    montage = None
    if hasattr(epochs, "get_data") and hasattr(epochs, "ch_names"):
        import mne

        eeg = mne.pick_types(epochs.info, eeg=True)
        info = mne.pick_info(epochs.info, eeg)
        montage = _Montage(list(info["ch_names"]), np.asarray(epochs.times, dtype=float), info)
        epochs = epochs.get_data(picks=eeg, copy=False)
    data = np.asarray(epochs)
    if data.ndim != 3:
        raise ValueError(f"{what} has {data.ndim} dimensions; epochs × sensors × samples expected")
    if 0 in data.shape[1:]:
        raise ValueError(f"{what} has the shape {data.shape}; at least one sensor and one sample expected")
    return data.astype(precision(data.dtype, what), copy=False), montage


def _window(times: Wave, baseline: tuple[float | None, float | None]) -> NDArray[np.bool_]:
    begin = times[0] if baseline[0] is None else baseline[0]
    end = times[-1] if baseline[1] is None else baseline[1]
    half = (times[1] - times[0]) / 2 if times.size > 1 else 0.0
    window = (times >= begin - 1e-3 * half) & (times <= end + 1e-3 * half)
    if not window.any():
        raise ValueError(f"baseline {begin} to {end} s: no sample lies there; they go from {times[0]:g} to {times[-1]:g} s")
    return np.asarray(window)


def _preprocessed(
    epochs: NDArray[Any], window: NDArray[np.bool_] | None, reference: str | None
) -> NDArray[Any]:
    if reference == "average":
        epochs = epochs - epochs.mean(axis=1, keepdims=True)
    if window is not None:
        epochs = epochs - epochs[:, :, window].mean(axis=2, keepdims=True)
    return epochs
