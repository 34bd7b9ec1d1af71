"""Reading input files and writing output files.

- runner: the loop over chunks of lines that all commands and functions over files share; what happens to invalid lines
- reports: invalid lines as messages and rows of reports
- files: what all files have: errors and names as messages show them, sizes, descriptors
- reading: inputs as chunks of whole lines
- writing: outputs, which replace their targets when they are complete
- meter: the progress meter
- terminals: what is written to a terminal, without characters that it would obey
- sizes: sizes such as 64M, shares of the machine's memory, durations
- set_files: files of saved sets: header, description, checksums
- sources: paths, files and bytes that functions get, as inputs
- follow: a file that grows, as lines arrive, across rotation
- magic: compression formats, by the first bytes of a file
- compress: decompression of gzip, bzip2, xz and Zstandard inputs
- signals: signals that end the process, while there is something to remove
- locks: temporary names, safe from other processes and after a killed one
- temporary: temporary files that replace their targets when they are complete
- scratch: temporary files without names
- folders: output folders that appear when all files in them are complete
- workers: threads that process pieces of an input and use the results in order
"""
