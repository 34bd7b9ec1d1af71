// Go compiles declarations of functions without bodies only in packages that have an assembly file.
