"""Rows that are names, of any kind: what tables, and what else works on them, are handed."""


cdef class Names:
    """A batch of names. What makes one from lines, columns or what was spilled is in modules of its own.

    Attributes:
        new (int): How many rows of the batch have a name that is new to the table that saw it last.
        later (int): Of how many rows a full table could not say.
    """

    def __len__(self):
        return <Py_ssize_t>self.count

    @property
    def marks(self):
        """What is said of each row: an octet, 0 nothing, 1 seen, 2 new, 3 later.

        Returns:
            bytes: As many as there are rows.
        """
        return (<const char *>self.marks)[:self.count]

    @property
    def fingerprints(self):
        """The fingerprints.

        Returns:
            bytes: 16 octets for each row.
        """
        return (<const char *>self.fingerprints)[:16 * self.count]
