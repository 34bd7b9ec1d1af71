"""Naive references of the tables that find duplicates: dicts."""

PENDING, SEEN, NEW, LATER = range(4)


class Table:
    """What a table holds, by the name itself: its fingerprint, or that with its normal form.

    `full` is told: when that is depends on memory.
    """

    def __init__(self, exact=False):
        self.exact = exact
        self.names = {}  # -> [number of the first row, how often]
        self.full = False

    def add(self, fingerprints, forms=None, numbers=None, marks=None, until=None):
        """Return the marks. From row `until` on the table is full."""
        marks = list(marks or [PENDING] * len(fingerprints))
        for i, fingerprint in enumerate(fingerprints):
            self.full |= i == until
            if marks[i] != PENDING:
                continue
            name = (fingerprint, forms[i]) if self.exact else fingerprint
            if name in self.names:
                self.names[name][1] += 1
                marks[i] = SEEN
            elif self.full:
                marks[i] = LATER
            else:
                self.names[name] = [numbers[i] if numbers else i, 1]
                marks[i] = NEW
        return marks


def registers(fingerprints, precision):
    """Those of HyperLogLog, by the bits of the second half as text."""
    result = [0] * 2**precision
    for fingerprint in fingerprints:
        bits = f"{int.from_bytes(fingerprint[8:], 'little'):064b}"[1:]
        register, rest = int(bits[:precision], 2), bits[precision:] + "1"
        result[register] = max(result[register], rest.index("1") + 1)
    return result
