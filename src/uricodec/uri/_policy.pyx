"""Policies for URLs: steps after the normal form of a level, in one loop over the bytes of the form.

The form is rewritten in place, from left to right: scheme, authority, path, query, fragment. Each step deletes bytes, or
changes letters; only "https" for "http" adds one, and classes of segments may be longer than these. The form is written so far
after the start of the output that this never overtakes what is still to be read. If parameters are not in their order yet,
they are sorted last, through a copy of the query.

What is left of each component is in normal form, and none is joined to another, so that a second run changes nothing:
Policy (_policies.py) documents the conditions of each step that this needs.
"""
cimport cython
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp, memcpy

from uricodec._base._kernels cimport lower
from uricodec._codec._percent cimport triplet_value
from uricodec._rows._engine cimport UC_RAISED, UC_REJECTED, Outcome, RowOperation, SizedRow
from uricodec._rows._single cimport ASCII_OF_ASCII, Single, result_of, single_of
from uricodec._url._grammar cimport *
from uricodec._url._queries cimport *
from uricodec._url._shapes cimport SHAPE_EXTRA, SHAPE_FACTOR, write_shape
from uricodec.uri._keys cimport *
from uricodec._url._normalize cimport AT_IRI, FORMS, NORMALIZE_ROWS, is_normal, level_of
from uricodec._url._whatwg cimport WHATWG_EXTRA, WHATWG_FACTOR, WhatwgBase, whatwg_block, whatwg_row

from uricodec.errors import UriSyntaxError


# --- options ----------------------------------------------------------------------------------------------------------

cdef list QUERIES = ["keep", "sort", "drop", "drop-empty", "names"]

# --- authority --------------------------------------------------------------------------------------------------------

cdef size_t www_size(const uint8_t *host, size_t n, bint to_uri) noexcept nogil:
    """Return the size of the labels "www" before a host that still has a dot without them, other than one at its end.

    A host that should be A-labels and is not stays: without "www" it could become one.
    """
    cdef size_t i, at = 0
    if to_uri:
        for i in range(n):
            if host[i] >= 0x80 or host[i] == c'%':
                return 0
    while n - at > 4 and equals(host + at, b"www.", 4) and memchr(host + at + 4, c'.', n - at - 5) != NULL:
        at += 4
    return at


cdef size_t write_authority(const uint8_t *s, const Parts *parts, const Steps *steps, uint8_t *dst) noexcept nogil:
    cdef Py_ssize_t start = parts.authority
    cdef size_t o = 0
    if parts.userinfo_end >= 0:
        if not steps.drops_userinfo:
            o = move(dst, s + start, <size_t>(parts.host - start))
        start = parts.host
    if steps.strips_www:
        start += <Py_ssize_t>www_size(s + start, <size_t>(parts.host_end - start), steps.to_uri)
    return o + move(dst + o, s + start, <size_t>(parts.path - start))


# --- path -------------------------------------------------------------------------------------------------------------

cdef bint is_session(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a path parameter is that of a session."""
    return n >= 11 and equals(s, b"jsessionid=", 11)


cdef size_t drop_sessions(uint8_t *path, size_t n) noexcept nogil:
    """Remove ";jsessionid=..." from segments, unless a dot segment would be left. Return the new size."""
    cdef size_t i = 0, o = 0, segment = 0, size
    cdef bint dots
    if memchr(path, c';', n) == NULL:
        return n
    while i < n:
        if path[i] == c'/':
            segment = o + 1
        if path[i] == c';':
            size = 1
            while i + size < n and path[i + size] != c'/' and path[i + size] != c';':
                size += 1
            dots = 1 <= o - segment <= 2 and path[segment] == c'.' and path[o - 1] == c'.'
            if is_session(path + i + 1, size - 1) and not dots:
                i += size
                continue
            o += move(path + o, path + i, size)
            i += size
            continue
        path[o] = path[i]
        i += 1
        o += 1
    return o


cdef void lower_path(uint8_t *path, size_t n) noexcept nogil:
    """Lower the case of letters, but not of the digits of triplets."""
    cdef size_t i = 0
    while i < n:
        if path[i] == c'%' and triplet_value(path + i, n - i) >= 0:
            i += 3
        else:
            path[i] = lower(path[i])
            i += 1


cdef size_t drop_end(const uint8_t *path, size_t n, const Steps *steps) noexcept nogil:
    """Return the size of the path without trailing slashes and default documents."""
    cdef size_t start
    while n > 1:
        if path[n - 1] == c'/':
            if not steps.drops_slash:
                return n
            n -= 1
            continue
        start = n
        while start and path[start - 1] != c'/':
            start -= 1
        if start == 0 or not has_name(&steps.documents, path + start, n - start, DECODED):
            return n
        n = start
    return n


# --- query ------------------------------------------------------------------------------------------------------------

# The start of a URL that has been written: it decides what a "+" in the query is.
cdef struct Head:
    const uint8_t *text
    size_t size


cdef int compare_fields(const void *a, const void *b) noexcept nogil:
    """Compare by name; fields with the same name stay in their order."""
    cdef const QueryField *x = <const QueryField *>a
    cdef const QueryField *y = <const QueryField *>b
    cdef int order = compare_text(x.text, x.name_size, y.text, y.name_size)
    return order if order else (x.text > y.text) - (x.text < y.text)


cdef size_t drop_repeated(uint8_t *query, size_t n) noexcept nogil:
    """Remove names that are the one before them from a query of sorted names. Return the new size."""
    cdef QueryReader reader = read_query(query, n)
    cdef QueryField field
    cdef size_t o = 0, last = 0     # where the one before is
    while next_field(&reader, &field):
        if o and o - last == field.size and memcmp(query + last, field.text, field.size) == 0:
            continue
        if o:
            query[o] = c'&'
            o += 1
        last = o
        o += move(query + o, field.text, field.size)
    return o


cdef inline bint next_kept(QueryReader *reader, QueryField *field, const Steps *steps, Spelling spelling) noexcept nogil:
    """Read the next field that stays, without its value if only names do. False: there is none."""
    while next_field(reader, field):
        if steps.query == NAMES_OF_QUERY:
            field.size = field.name_size
        if (field.size or steps.query == KEEP_QUERY) and not has_name(&steps.dropped, field.text, field.name_size, spelling):
            return True
    return False


cdef inline bint has_repeated(const QueryField *sorted, size_t count) noexcept nogil:
    cdef size_t i
    for i in range(1, count):
        if compare_text(sorted[i - 1].text, sorted[i - 1].size, sorted[i].text, sorted[i].size) == 0:
            return True
    return False


cdef size_t write_query(const uint8_t *s, size_t n, const Steps *steps, Head head, bint is_apart, uint8_t *dst,
                        bint *failed) noexcept nogil:
    """Write the fields that stay, after a "?"; nothing if none does.

    Unless it is_apart, the query may overlap dst, to its right. Neighbours are copied together.
    """
    cdef QueryReader reader = read_query(s, n)
    cdef QueryField field
    cdef QueryField few[FEW]
    cdef size_t count = 0
    cdef bint names = steps.query == NAMES_OF_QUERY, sorts = names or steps.query == SORT_QUERY
    cdef const uint8_t *start = NULL        # what is to be copied next
    cdef const uint8_t *end = NULL
    cdef Spelling spelling = FORM if has_form_query(head.text, head.size) else ENCODED
    cdef size_t o = 1
    if sorts and is_apart:
        while count < FEW and next_kept(&reader, few + count, steps, spelling):
            o += few[count].size + 1
            count += 1
        if count == 0:
            return 0
        if count < FEW:
            dst[0] = c'?'
            write_sorted(few, count, compare_fields, dst + 1)
            return 1 + drop_repeated(dst + 1, o - 2) if names and has_repeated(few, count) else o - 1
        reader, o = read_query(s, n), 1
    while next_kept(&reader, &field, steps, spelling):
        if start == NULL:
            start = field.text
        elif field.text > end + 1:
            o += move(dst + o, start, <size_t>(end - start))
            dst[o] = c'&'
            o += 1
            start = field.text
        end = field.text + field.size
    if start == NULL:
        return 0
    dst[0] = c'?'
    o += move(dst + o, start, <size_t>(end - start))
    if sorts:
        failed[0] = not sort_query(dst + 1, o - 1, compare_fields)
    return 1 + drop_repeated(dst + 1, o - 1) if names else o


# --- rows -------------------------------------------------------------------------------------------------------------

cdef size_t write_steps(const uint8_t *form, const Parts *parts, const Steps *steps, bint is_plain, uint8_t *dst,
                        bint *failed) noexcept nogil:
    """Write what the steps make of a normal form, which may overlap dst, to its right. is_plain: is_normal() accepts it."""
    cdef size_t o = 0, size, end = <size_t>parts.end
    cdef const uint8_t *path = form + parts.path
    cdef uint8_t *edited = dst
    cdef bint has_authority = parts.authority >= 0
    if steps.drops_fragment and parts.fragment >= 0:
        end = <size_t>(parts.fragment - 1)
    if not has_authority and parts.scheme_end >= 0 and not (parts.path < parts.path_end and form[parts.path] == c'/'):
        return move(dst, form, end)     # mailto:, data:, urn: have no hierarchy, and their "?" no parameters
    if is_plain and steps.ends_only:
        o = move(dst, form, <size_t>parts.path)
    else:
        if has_authority and not is_well_delimited(form, parts):
            return move(dst, form, end)         # the host is unknown
        if parts.scheme_end >= 0:
            o = move(dst, form, <size_t>parts.scheme_end + 1)
        if has_authority:
            if steps.http_is_https and parts.scheme_end == 4 and parts.port < 0 and equals(dst, b"http", 4):
                dst[4], dst[5] = c's', c':'
                o += 1
            dst[o] = dst[o + 1] = c'/'
            o += 2
            o += write_authority(form, parts, steps, dst + o)
    size = <size_t>(parts.path_end - parts.path)
    if not steps.shapes or has_authority and (steps.drops_sessions or steps.lowers_path):
        edited = dst + o + ((SHAPE_FACTOR - 1) * size + SHAPE_EXTRA if steps.shapes else 0)
        move(edited, path, size)
        path = edited
        if has_authority and steps.drops_sessions:
            size = drop_sessions(edited, size)
        if has_authority and steps.lowers_path:
            lower_path(edited, size)
    if steps.shapes:
        size = write_shape(path, size, False, dst + o)
    if has_authority and (steps.drops_slash or steps.documents.first[32]):
        size = drop_end(dst + o, size, steps)
    o += size
    if parts.query >= 0 and steps.query != DROP_QUERY:
        size = <size_t>(parts.query_end - parts.query)
        if steps.query != KEEP_QUERY or steps.dropped.first[32]:
            o += write_query(form + parts.query, size, steps, Head(dst, o), is_plain, dst + o, failed)
        else:
            o += move(dst + o, form + parts.query - 1, size + 1)
    if parts.fragment >= 0 and not steps.drops_fragment:
        o += move(dst + o, form + parts.fragment - 1, <size_t>(parts.end - parts.fragment + 1))
    return o


cdef size_t policy_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const Steps *steps = <const Steps *>options
    cdef const uint8_t *form = src
    cdef Parts parts
    cdef size_t start = POLICY_EXTRA        # of the normal form
    cdef bint failed = False, is_plain = steps.adds and is_normal(src, n, &parts)
    if is_plain and steps.ends_only and not steps.shapes and parts.path_end == <Py_ssize_t>n:
        memcpy(dst, src, n)
        return n
    if not is_plain:
        if steps.shapes:
            start += (SHAPE_FACTOR - 1) * (steps.normal.factor * n + steps.normal.extra) + SHAPE_EXTRA
        n = steps.normal.row(src, n, steps.options, dst + start, outcome)
        if n == UC_REJECTED:
            return n
        form = dst + start
        find_parts(form, n, &parts)
    n = write_steps(form, &parts, steps, is_plain, dst, &failed)
    if failed:  # pragma: no cover: no memory
        outcome.code, outcome.offset = UC_RAISED, 0
        return UC_REJECTED
    return n


@cython.final
cdef class PolicyRows(RowOperation):
    """Operation that normalizes URLs by a policy.

    Args:
        policy (Policy): The policy.
        base (str | bytes-like | None): The base of relative URLs, with the policy "whatwg".

    Source: see `Policy`.
    """

    def __cinit__(self, policy, base=None):
        cdef int level = level_of(policy.level)
        cdef Steps *steps = &self.steps
        self.code_names, self.reasons, self.error, self.held = CODE_NAMES, REASONS, UriSyntaxError, []
        self.slots.options, self.slots.utf8_code, self.slots.block = steps, UTF8, NULL
        if policy._form == "whatwg":
            self.set_whatwg(base)
            return
        if policy._form is not None:
            self.slots.strict.row = surt_row if policy._form == "surt" else w3lib_row
            self.slots.strict.factor, self.slots.strict.extra = KEY_FACTOR, KEY_EXTRA
            self.rejects = policy._form == "w3lib"
            return
        steps.normal, steps.options, steps.to_uri = NORMALIZE_ROWS[level], FORMS + level, level == AT_IRI
        steps.http_is_https, steps.strips_www = policy.http_is_https, policy.strip_www
        steps.drops_userinfo, steps.drops_fragment = policy.userinfo == "drop", policy.fragment == "drop"
        steps.drops_sessions, steps.drops_slash = policy.session_ids == "drop", policy.trailing_slash == "drop"
        steps.lowers_path, steps.shapes = policy.lower_case_path, policy.shape
        steps.query = <Query>QUERIES.index(policy.query)
        set_names(&steps.documents, policy._documents, False, False, self.held)
        set_names(&steps.dropped, policy._parameters, True, True, self.held)
        self.slots.strict = NORMALIZE_ROWS[level]
        self.slots.strict.row = policy_row
        self.ascii_stays = level == AT_IRI and not policy.shape
        steps.adds = level <= AT_IRI
        steps.ends_only = not (steps.http_is_https or steps.strips_www or steps.drops_sessions or steps.drops_slash
                               or steps.lowers_path or policy.default_documents)
        self.slots.strict.extra += POLICY_EXTRA
        if policy.shape:
            self.slots.strict.factor *= SHAPE_FACTOR
            self.slots.strict.extra += (SHAPE_FACTOR - 1) * NORMALIZE_ROWS[level].extra + SHAPE_EXTRA

    cdef int set_whatwg(self, object base) except -1:
        """Make the operation that of the policy "whatwg", with a base or None."""
        self.base = None if base is None else WhatwgBase(base)
        self.slots.strict = SizedRow(whatwg_row, WHATWG_FACTOR, WHATWG_EXTRA)
        self.slots.options, self.slots.utf8_code = NULL, 0
        self.slots.block = whatwg_block
        self.replaces_surrogates = self.rejects = True
        if base is not None:
            self.slots.options = &self.base.href
            self.slots.strict.extra += <size_t>len(self.base.memory)
        return 0


# --- single values ----------------------------------------------------------------------------------------------------

cdef const Single *form_of_policy(PolicyRows rows, Single *form) noexcept:
    form[0] = single_of(&rows.slots.strict, rows.slots.options, NULL, ASCII_OF_ASCII)
    form.ascii_stays, form.rejects, form.replaces_surrogates = rows.ascii_stays, rows.rejects, rows.replaces_surrogates
    return form


def normal_form(PolicyRows rows not None, uri):
    """Return the normal form of a URL by the operation of a policy."""
    cdef Single form
    return result_of(uri, form_of_policy(rows, &form), URI_FAULTS, True)
