"""Files in, files out: chunks of lines, compression, threads, outputs that appear when they are complete."""
