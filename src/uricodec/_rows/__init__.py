"""The row engine: one operation over rows of any source, under one policy, into any sink."""
