"""Seeds: the same on every machine, in every process, for ever."""

from selftrain.seeds import derive_seed


def test_a_seed_has_its_value_for_ever() -> None:
    assert derive_seed(0, 1, "propose", 2) == 2596212155842595004


def test_a_seed_fits_in_63_bits_and_differs_by_place() -> None:
    seeds = {derive_seed(0, 1, stage, index) for stage in ("a", "b") for index in range(500)}
    assert len(seeds) == 1000
    assert all(0 <= seed < 2**63 for seed in seeds)
