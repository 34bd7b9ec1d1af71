"""What all other rooms stand on: kernels and their tiers, UTF-8, bytes of objects, fingerprints. Knows no rows."""
