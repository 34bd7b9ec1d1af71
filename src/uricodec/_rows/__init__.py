"""The row engine: source -> block of rows -> operation -> results -> sink, under one policy for invalid rows.

- _engine: the loop, blocks of rows, the policy for invalid rows; an operation, with its options, as an object; sinks,
  the destinations of results
- _single: an operation on one value
- kinds: what kind of column an object is
- overloads: types of functions whose result depends on the type of the column
- _tasks: runs over arrays and buffers, the threads that execute them, and lines from one buffer to another
- _columns, _lists: entry points for Arrow columns and lines in memory, and for lists
- _tuples: columns side by side, as rows of several values
- _dictionaries: deduplication of dictionary values
- _ranges: ranges of rows, copied to a new array: to join arrays, to select rows, or to take them by number
- _arrow: the Arrow C data interface
"""
