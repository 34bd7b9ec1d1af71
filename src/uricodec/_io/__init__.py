"""Files in, files out.

- streams: inputs as chunks of lines, outputs, the meter
- compress: gzip, bzip2, xz and Zstandard
- temporary: outputs that appear when they are complete
- workers: threads that work on pieces and use the results in order
"""
