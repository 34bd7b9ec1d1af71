"""Files in, files out, in chunks, in order, in little memory: for whatever works on lines."""
