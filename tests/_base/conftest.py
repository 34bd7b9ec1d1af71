"""Kernels are tested on every tier each time."""

from support.marks import tier_fixture

tier = tier_fixture(all_tiers=True)
