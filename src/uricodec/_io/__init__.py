"""Reading input files and writing output files.

- streams: inputs as chunks of whole lines, outputs, the progress meter
- follow: a file that grows, as lines arrive, across rotation
- compress: decompression of gzip, bzip2, xz and Zstandard inputs
- temporary: temporary files that replace their targets when they are complete
- folders: output folders that appear when all files in them are complete
- workers: threads that process pieces of an input and use the results in order
"""
