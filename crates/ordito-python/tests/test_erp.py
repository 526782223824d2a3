"""Averages of epochs against their formulas, against SciPy's test, and with MNE."""

from __future__ import annotations

from typing import Any

import numpy as np
import ordito
import pytest
import scipy.stats
from arrays import Array
from numpy.testing import assert_allclose, assert_array_equal

RATE, TMIN = 100.0, -0.05


def epochs(count: int = 12, sensors: int = 4, samples: int = 20, seed: int = 0, dtype: Any = np.float64) -> Array:
    return np.random.default_rng(seed).standard_normal((count, sensors, samples)).astype(dtype) + np.float32(3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int16])
@pytest.mark.parametrize("order", ["C", "F"])
def test_mean_and_standard_error(dtype: Any, order: Any) -> None:
    data = np.asarray((10 * epochs()).astype(dtype), order=order)
    found = ordito.erp(data)
    wide = data.astype(np.float64)
    assert_allclose(found.mean, wide.mean(axis=0), rtol=1e-6)
    assert_allclose(found.sem, scipy.stats.sem(wide, axis=0), rtol=1e-6)
    assert found.mean is found.target.mean and found.sem is found.target.sem
    assert (found.target.count, found.nontarget, found.names) == (12, None, ["S1", "S2", "S3", "S4"])
    assert_array_equal(found.target.rejected, [])
    assert_array_equal(found.times, np.arange(20))
    assert_allclose(found.target.global_field_power, wide.mean(axis=0).std(axis=0), rtol=1e-6)


def test_t_and_degrees_of_freedom_are_welchs() -> None:
    first, second = epochs(12, seed=1), 2 * epochs(30, seed=2)
    found = ordito.erp(first, second)
    expected = scipy.stats.ttest_ind(first, second, axis=0, equal_var=False)
    assert_allclose(found.t, expected.statistic, rtol=1e-10)
    assert_allclose(found.degrees_of_freedom, expected.df, rtol=1e-10)
    assert_allclose(found.difference, first.mean(axis=0) - second.mean(axis=0), rtol=1e-10, atol=1e-12)
    assert found.nontarget is not None and found.nontarget.count == 30


def test_names_and_times() -> None:
    found = ordito.erp(epochs(), rate=RATE, tmin=TMIN, names=["Fz", "Cz", "Pz", "Oz"])
    assert found.names == ["Fz", "Cz", "Pz", "Oz"]
    assert_allclose(found.times, TMIN + np.arange(20) / RATE)


# --- reference, baseline, rejection ---


@pytest.mark.parametrize(
    "baseline, samples",
    [((-0.05, 0.0), slice(0, 6)), ((0.0, 0.05), slice(5, 11)), ((None, 0.0), slice(0, 6)), ((0.1, None), slice(15, 20))],
)
def test_a_baseline_is_subtracted(baseline: Any, samples: slice) -> None:
    """Both ends belong to it."""
    data = epochs()
    corrected = data - data[:, :, samples].mean(axis=2, keepdims=True)
    found = ordito.erp(data, rate=RATE, tmin=TMIN, baseline=baseline)
    assert_allclose(found.mean, corrected.mean(axis=0), atol=1e-12)
    assert_allclose(found.sem, scipy.stats.sem(corrected, axis=0), rtol=1e-10)


def test_the_average_reference_is_subtracted() -> None:
    data = epochs()
    expected = data - data.mean(axis=1, keepdims=True)
    found = ordito.erp(data, reference="average")
    assert_allclose(found.mean, expected.mean(axis=0), atol=1e-12)
    assert_allclose(found.mean.mean(axis=0), 0, atol=1e-12)


def test_epochs_that_move_too_far_are_left_out() -> None:
    data, other = epochs(12), epochs(9, seed=3)
    data[3, 1, 7] += 100
    data[8, 0, 0] = np.nan
    other[0, 2, 2] -= 100
    found = ordito.erp(data, other, reject=20.0)
    kept = np.delete(data, [3, 8], axis=0)
    assert_array_equal(found.target.rejected, [3, 8])
    assert found.target.count == 10
    assert_allclose(found.mean, kept.mean(axis=0), rtol=1e-12)
    assert_allclose(found.sem, scipy.stats.sem(kept, axis=0), rtol=1e-10)
    assert found.nontarget is not None
    assert_array_equal(found.nontarget.rejected, [0])


def test_peak_to_peak_decides_and_its_bound_is_kept() -> None:
    data = np.zeros((3, 2, 4))
    data[0, 1] = [0, 5, -5, 0]  # 10 from peak to peak
    data[1, 1] = [100, 100, 100, 104]
    assert_array_equal(ordito.erp(data, reject=10.0).target.rejected, [])
    assert_array_equal(ordito.erp(data, reject=9.9).target.rejected, [0])


def test_reference_comes_first_then_baseline_then_rejection() -> None:
    data = epochs(20, seed=4)
    data[5] += np.linspace(0, 1000, 20)  # all sensors alike: the reference takes it away
    data[6, 2] += np.linspace(0, 1000, 20)
    prepared = data - data.mean(axis=1, keepdims=True)
    prepared = prepared - prepared[:, :, :6].mean(axis=2, keepdims=True)
    found = ordito.erp(data, rate=RATE, tmin=TMIN, baseline=(-0.05, 0.0), reject=50.0, reference="average")
    assert_array_equal(found.target.rejected, [6])
    assert_allclose(found.mean, np.delete(prepared, 6, axis=0).mean(axis=0), atol=1e-11)


def test_the_epochs_themselves_are_not_changed() -> None:
    data = epochs()
    data.flags.writeable = False
    before = data.copy()
    ordito.erp(data, rate=RATE, baseline=(0.0, 0.1), reference="average", reject=50.0)
    assert_array_equal(data, before)


def test_a_single_epoch_has_no_standard_error() -> None:
    found = ordito.erp(epochs(1))
    assert_array_equal(found.mean, epochs(1)[0])
    assert np.isnan(found.sem).all()


def test_threads_do_not_change_a_bit() -> None:
    data = epochs(200, 16, 50)
    found = [ordito.erp(data, threads=threads) for threads in (1, 2, 3)]
    assert len({erp.mean.tobytes() for erp in found}) == 1 and len({erp.sem.tobytes() for erp in found}) == 1


WRONG: dict[str, tuple[Any, dict[str, Any], type[Exception], str]] = {
    "two dimensions": ((np.ones((3, 4)),), {}, ValueError, "target has 2 dimensions; epochs × sensors × samples expected"),
    "nontarget": ((epochs(), np.ones(3)), {}, ValueError, "nontarget has 1 dimensions"),
    "complex": ((1j * epochs(),), {}, TypeError, "target is complex128; float32 or float64 expected"),
    "text": ((np.full((1, 1, 1), "a"),), {}, TypeError, "target is <U1; float32 or float64 expected"),
    "no epoch": ((epochs()[:0],), {}, ValueError, "target: none of 0 epochs is left"),
    "no sensor": ((epochs()[:, :0],), {}, ValueError, "at least one sensor and one sample expected"),
    "no sample": ((epochs()[:, :, :0],), {"baseline": (0, 1)}, ValueError, "at least one sensor and one sample expected"),
    "all rejected": ((epochs(),), {"reject": 0.0}, ValueError, "target: none of 12 epochs is left"),
    "others rejected": ((epochs(), 100 * epochs()), {"reject": 50.0}, ValueError, "nontarget: none of 12 epochs is left"),
    "names": ((epochs(),), {"names": ["Cz"]}, ValueError, "1 names for 4 sensors"),
    "rate": ((epochs(),), {"rate": 0.0}, ValueError, "samples per second expected, above 0"),
    "rate that is none": ((epochs(),), {"rate": float("nan")}, ValueError, "samples per second expected, above 0"),
    "reference": ((epochs(),), {"reference": "Cz"}, ValueError, '"average" or None expected'),
    "baseline": ((epochs(),), {"baseline": (50.0, 60.0)}, ValueError, "no sample lies there; they go from 0 to 19 s"),
    "baseline turned": ((epochs(),), {"baseline": (5.0, 3.0)}, ValueError, "no sample lies there"),
    "shapes": ((epochs(), epochs(samples=21)), {}, ValueError, "epochs of 4×20 and of 4×21 cannot be compared"),
    "threads": ((epochs(),), {"threads": 0}, ValueError, "threads=0: a number from 1 on expected"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(case: str) -> None:
    arguments, options, error, text = WRONG[case]
    with pytest.raises(error, match=text):
        ordito.erp(*arguments, **options)


@pytest.mark.parametrize("property", ["difference", "t", "degrees_of_freedom"])
def test_a_comparison_needs_two(property: str) -> None:
    with pytest.raises(ValueError, match=r"erp\(target, nontarget\) compares two"):
        getattr(ordito.erp(epochs()), property)


# --- MNE ---


def mne_epochs(count: int, seed: int, bads: list[str] | None = None, tmin: float = TMIN) -> Any:
    mne = pytest.importorskip("mne")
    info = mne.create_info(["Fz", "EOG", "Cz", "Pz"], RATE, ["eeg", "eog", "eeg", "eeg"])
    info["bads"] = bads or []
    data = 1e-6 * epochs(count, seed=seed)
    data[:, 1] *= 1e6  # an eye that would spoil every average over sensors
    return mne.EpochsArray(data, info, tmin=tmin, baseline=None, verbose="error")


def test_mne_epochs_give_their_names_times_and_eeg_channels() -> None:
    target, nontarget = mne_epochs(10, 5), mne_epochs(14, 6)
    found = ordito.erp(target, nontarget)
    assert found.names == ["Fz", "Cz", "Pz"]
    assert_allclose(found.times, target.times)
    assert_allclose(found.mean, target.average(picks="eeg").data, rtol=1e-10)
    # MNE divides by n, and so speaks of the epochs at hand; we by n − 1, and speak of those to come.
    assert_allclose(found.sem, target.standard_error(picks="eeg").data * np.sqrt(10 / 9), rtol=1e-10)
    expected = scipy.stats.ttest_ind(
        target.get_data(picks="eeg"), nontarget.get_data(picks="eeg"), axis=0, equal_var=False
    )
    assert_allclose(found.t, expected.statistic, rtol=1e-9)


def test_bad_channels_of_mne_stay_out_of_the_reference() -> None:
    found = ordito.erp(mne_epochs(10, 5, ["Cz"]), reference="average")
    data = mne_epochs(10, 5).get_data(picks=["Fz", "Pz"])
    assert found.names == ["Fz", "Pz"]
    assert_allclose(found.mean, (data - data.mean(axis=1, keepdims=True)).mean(axis=0), atol=1e-18)


def test_baseline_and_reference_are_mnes() -> None:
    target = mne_epochs(10, 7)
    found = ordito.erp(target, baseline=(None, 0.0), reference="average")
    expected = target.copy().pick("eeg").set_eeg_reference("average", verbose="error")
    expected = expected.apply_baseline((None, 0.0), verbose="error")
    assert_allclose(found.mean, expected.average().data, atol=1e-17)


def test_the_result_goes_back_to_mne() -> None:
    target, nontarget = mne_epochs(10, 5), mne_epochs(15, 6)
    found = ordito.erp(target, nontarget)
    evoked = {of: found.to_mne(of) for of in ("target", "nontarget", "difference")}
    assert_allclose(evoked["target"].data, found.mean)
    assert_allclose(evoked["difference"].data, found.difference)
    assert evoked["target"].ch_names == ["Fz", "Cz", "Pz"] and evoked["target"].comment == "target"
    assert [evoked[of].nave for of in evoked] == [10, 15, 6], "the difference is as noisy as the average of six"
    assert_allclose(evoked["target"].times, target.times)
    with pytest.raises(ValueError, match="one of target, nontarget, difference expected"):
        found.to_mne("both")


def test_arrays_go_to_mne_too() -> None:
    pytest.importorskip("mne")
    evoked = ordito.erp(epochs(), rate=RATE, tmin=TMIN, names=["Fz", "Cz", "Pz", "Oz"]).to_mne()
    assert evoked.ch_names == ["Fz", "Cz", "Pz", "Oz"] and evoked.info["sfreq"] == pytest.approx(RATE)
    assert evoked.times[0] == pytest.approx(TMIN)
    with pytest.raises(ValueError, match="one of target expected"):
        ordito.erp(epochs()).to_mne("difference")


def test_mne_epochs_that_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="both must be cut and picked alike"):
        ordito.erp(mne_epochs(10, 5), mne_epochs(10, 6, tmin=0.0))
    with pytest.raises(ValueError, match="both must be cut and picked alike"):
        ordito.erp(mne_epochs(10, 5), mne_epochs(10, 6, bads=["Cz"]))
    with pytest.raises(TypeError, match="rate, tmin and names are those of the Epochs"):
        ordito.erp(mne_epochs(10, 5), rate=100.0)
