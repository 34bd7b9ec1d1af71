"""Kernels are tested on every tier each time."""

from marks import tier_fixture

tier = tier_fixture(all_tiers=True)
