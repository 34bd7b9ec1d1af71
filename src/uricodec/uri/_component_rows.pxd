"""Operations on rows of any octets, whose options are a Grammar."""
from uricodec._rows._engine cimport Operation
from uricodec.uri._grammar cimport Production, Syntax


cdef struct Grammar:
    Syntax syntax
    Production production

cdef Operation CHECK_ROW            # writes nothing
cdef Operation SPLIT_ROW            # writes components
cdef Operation SPLIT_JSONL_ROW
cdef Operation SPLIT_CSV_ROW
cdef Operation SPLIT_SAFE_CSV_ROW   # with an apostrophe before what a spreadsheet may take for a formula
cdef tuple COLUMNS                  # of both: the names of the components
