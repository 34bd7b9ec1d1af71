"""The row engine: source -> block of rows -> operation -> results -> sink, under one policy.

- registry: the table of operations, from which bulk, the engines, SQL, the command line, the docs and tests have theirs
- _operation: an operation on rows as an object
- _engine: the loop; blocks of rows; the policy for invalid rows
- _sinks: where results go
- overloads: types of functions whose result depends on the type of the column
- reports: invalid rows and lines as messages and rows of reports
- _tasks: runs over arrays and buffers, and their threads
- _columns, _lists, _lines: calls for Arrow columns and lines in memory, for lists, and for lines from buffer to buffer
- _dictionaries: distinct values of dictionaries
- _arrow: the Arrow C data interface; several arrays as one
"""
