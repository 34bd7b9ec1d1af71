"""Tables of identifiers and keys in bounded memory, and how often each occurs. Knows neither logs nor files of URLs.

- _table: identifiers, with their first rows, counts, sums and sketches of quantiles, as many as fit into memory
- _order: numbers and times as values that are compared: which row is the newest
- _spill: rows for which a table has no memory, as blocks of temporary files
- partitions: a table and its spilled rows, which are read again until all fit
- _runs: the merge of sorted runs of fingerprints or records
- runs: external sorting: runs in temporary files
- _counts: lines as keys that are compared byte by byte, and the entries of a table by their counts
- counter: counts of keys, the most frequent first
"""
