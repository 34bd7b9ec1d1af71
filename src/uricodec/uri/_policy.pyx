"""Policies for URLs: steps after the normal form of a level, in one loop over the bytes of the form.

The form is rewritten in place, from left to right: scheme, authority, path, query, fragment. Each step deletes bytes, or
changes letters; only "https" for "http" adds one, so the form is written one byte after the start of the output, and the
output never overtakes what is still to be read. If parameters are not in their order yet, they are sorted last, through
a copy of the query.

What is left of each component is in normal form, and none is joined to another, so that a second run changes nothing:
Policy (_policies.py) documents the conditions of each step that this needs.
"""
cimport cython
from libc.stdint cimport uint8_t, uint16_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy

from uricodec._base._kernels cimport lower
from uricodec._codec._percent cimport triplet_value
from uricodec._rows._engine cimport UC_RAISED, UC_REJECTED, Outcome, RowOperation, SizedRow
from uricodec._url._grammar cimport *
from uricodec.uri._keys cimport *
from uricodec._url._normalize cimport AT_IRI, FORMS, NORMALIZE_ROWS, is_normal, level_of
from uricodec.uri._queries cimport ParameterName, has_form_query, is_name
from uricodec._url._whatwg cimport WHATWG_EXTRA, WHATWG_FACTOR, WhatwgBase, whatwg_block, whatwg_row

from cpython.bytes cimport PyBytes_AS_STRING

from uricodec.errors import UriSyntaxError


# --- options ----------------------------------------------------------------------------------------------------------

cdef list QUERIES = ["keep", "sort", "drop", "drop-empty"]

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


cdef size_t write_authority(const uint8_t *s, const Parts *parts, const Authority *found, const Steps *steps,
                            uint8_t *dst) noexcept nogil:
    cdef Py_ssize_t start = parts.authority
    cdef size_t o = 0
    if found.userinfo_end >= 0:
        if not steps.drops_userinfo:
            o = move(dst, s + start, <size_t>(found.host - start))
        start = found.host
    if steps.strips_www:
        start += <Py_ssize_t>www_size(s + start, <size_t>(found.host_end - start), steps.to_uri)
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
    cdef size_t i, start
    cdef const ParameterName *document
    while n > 1:
        if path[n - 1] == c'/':
            if not steps.drops_slash:
                return n
            n -= 1
            continue
        start = n
        while start and path[start - 1] != c'/':
            start -= 1
        for i in range(steps.documents):
            document = steps.document + i
            if start and document.size == n - start and memcmp(document.text, path + start, n - start) == 0:
                n = start
                break
        else:
            return n
    return n


# --- query ------------------------------------------------------------------------------------------------------------

# The start of a URL that has been written: it decides what a "+" in the query is.
cdef struct Head:
    const uint8_t *text
    size_t size


cdef bint is_encoded_dropped(const uint8_t *s, size_t n, const Steps *steps, Head head) noexcept nogil:
    """is_dropped() for a name with a "%" or "+"."""
    cdef size_t i
    cdef bint plus = has_form_query(head.text, head.size)
    cdef int c = triplet_value(s, n) if s[0] == c'%' else c' ' if plus and s[0] == c'+' else s[0]
    c = lower(<uint8_t>c) if c >= 0 else c'%'
    for i in range(steps.first[c], steps.first[c + 1]):
        if is_name(s, n, steps.name + i, plus, True):
            return True
    return False


cdef inline bint is_dropped(const uint8_t *s, size_t n, const Steps *steps, Head head) noexcept nogil:
    """Return whether the name of a parameter is one that the policy drops."""
    cdef size_t i
    cdef uint8_t c
    cdef const ParameterName *name
    if n == 0:
        return False
    c = lower(s[0])
    if steps.first[c] == steps.first[c + 1] and c != c'%' and c != c'+':
        return False
    for i in range(n):      # it is short
        if s[i] == c'%' or s[i] == c'+':
            return is_encoded_dropped(s, n, steps, head)
    for i in range(steps.first[c], steps.first[c + 1]):
        name = steps.name + i
        if (n >= name.size if name.is_prefix else n == name.size) and equals(s, name.text, name.size):
            return True
    return False


cdef int compare_parameters(const void *a, const void *b) noexcept nogil:
    """Compare by name; parameters with the same name stay in their order."""
    cdef const QueryParameter *x = <const QueryParameter *>a
    cdef const QueryParameter *y = <const QueryParameter *>b
    cdef int order = compare_names(x.text, x.name_size, y.text, y.name_size)
    return order if order else (x.text > y.text) - (x.text < y.text)


cdef size_t write_query(const uint8_t *s, size_t n, const Steps *steps, Head head, bint is_apart, uint8_t *dst,
                        bint *failed) noexcept nogil:
    """Write the parameters that stay, after a "?"; nothing if none does.

    Unless it is_apart, the query may overlap dst, to its right. Neighbours are copied together, and the name before is
    read where it still is.
    """
    cdef QueryParameter few[FEW]
    cdef size_t i = 0, o = 0, count = 0, size, name_size, last_size = 0
    cdef size_t start = 0, end = 0          # what is to be copied next
    cdef const uint8_t *last = s            # the name of the parameter before
    cdef bint sorts = steps.query == SORT_QUERY, in_order = True
    cdef uint8_t *query = dst + 1
    while True:
        size = size_until(s + i, n - i, c'&')
        if size or steps.query == KEEP_QUERY:
            name_size = size_until(s + i, size, c'=')
            if not is_dropped(s + i, name_size, steps, head):
                if count and i > end + 1:
                    last = query + o + (last - s - start)
                    o += move(query + o, s + start, end - start)
                    query[o] = c'&'
                    o += 1
                    start = i
                elif count == 0:
                    start = i
                if sorts and count and in_order:
                    in_order = compare_names(last, last_size, s + i, name_size) <= 0
                if sorts and count < FEW:
                    few[count] = QueryParameter(s + i, name_size, size)
                last, last_size = s + i, name_size
                end = i + size
                count += 1
        i += size + 1
        if i > n:
            break
    if count == 0:
        return 0
    o += move(query + o, s + start, end - start)
    dst[0] = c'?'
    if in_order:
        return o + 1
    if is_apart and count <= FEW:
        write_sorted(few, count, compare_parameters, query)
    else:
        failed[0] = not sort_query(query, o, count, compare_parameters)
    return o + 1


# --- rows -------------------------------------------------------------------------------------------------------------

cdef size_t write_steps(const uint8_t *form, const Parts *parts, const Steps *steps, bint is_plain, uint8_t *dst,
                        bint *failed) noexcept nogil:
    """Write what the steps make of a normal form, which may overlap dst, to its right. is_plain: is_normal() accepts it."""
    cdef Authority authority
    cdef size_t o = 0, size, end = <size_t>parts.end
    cdef bint has_authority = parts.authority >= 0
    if steps.drops_fragment and parts.fragment >= 0:
        end = <size_t>(parts.fragment - 1)
    if not has_authority and parts.scheme_end >= 0 and not (parts.path < parts.path_end and form[parts.path] == c'/'):
        return move(dst, form, end)     # mailto:, data:, urn: have no hierarchy, and their "?" no parameters
    if is_plain and steps.ends_only:
        o = move(dst, form, <size_t>parts.path)
    else:
        if has_authority and not find_authority(form, parts.authority, parts.path, &authority):
            return move(dst, form, end)         # the host is unknown
        if parts.scheme_end >= 0:
            o = move(dst, form, <size_t>parts.scheme_end + 1)
        if has_authority:
            if steps.http_is_https and parts.scheme_end == 4 and authority.port < 0 and equals(dst, b"http", 4):
                dst[4], dst[5] = c's', c':'
                o += 1
            dst[o] = dst[o + 1] = c'/'
            o += 2
            o += write_authority(form, parts, &authority, steps, dst + o)
    size = move(dst + o, form + parts.path, <size_t>(parts.path_end - parts.path))
    if has_authority:
        if steps.drops_sessions:
            size = drop_sessions(dst + o, size)
        if steps.lowers_path:
            lower_path(dst + o, size)
        if steps.drops_slash or steps.documents:
            size = drop_end(dst + o, size, steps)
    o += size
    if parts.query >= 0 and steps.query != DROP_QUERY:
        size = <size_t>(parts.query_end - parts.query)
        if steps.query != KEEP_QUERY or steps.first[256]:
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
    cdef bint failed = False, is_plain = steps.adds and is_normal(src, n, &parts)
    if is_plain and steps.ends_only and parts.path_end == <Py_ssize_t>n:
        memcpy(dst, src, n)
        return n
    if not is_plain:
        n = steps.row(src, n, steps.options, dst + POLICY_EXTRA, outcome)
        if n == UC_REJECTED:
            return n
        form = dst + POLICY_EXTRA
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
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, UriSyntaxError
        self.slots.options, self.slots.utf8_code, self.slots.block = steps, UTF8, NULL
        if policy._form == "whatwg":
            self.set_whatwg(base)
            return
        if policy._form is not None:
            self.slots.strict.row = surt_row if policy._form == "surt" else w3lib_row
            self.slots.strict.factor, self.slots.strict.extra = KEY_FACTOR, KEY_EXTRA
            self.rejects = policy._form == "w3lib"
            return
        steps.row, steps.options, steps.to_uri = NORMALIZE_ROWS[level].row, FORMS + level, level == AT_IRI
        steps.http_is_https, steps.strips_www = policy.http_is_https, policy.strip_www
        steps.drops_userinfo, steps.drops_fragment = policy.userinfo == "drop", policy.fragment == "drop"
        steps.drops_sessions, steps.drops_slash = policy.session_ids == "drop", policy.trailing_slash == "drop"
        steps.lowers_path, steps.query = policy.lower_case_path, <Query>QUERIES.index(policy.query)
        self.set_documents(policy._documents)
        self.set_names(policy._parameters)
        self.slots.strict = NORMALIZE_ROWS[level]
        self.slots.strict.row = policy_row
        self.ascii_stays = level == AT_IRI
        steps.adds = level <= AT_IRI
        steps.ends_only = not (steps.http_is_https or steps.strips_www or steps.drops_sessions or steps.drops_slash
                               or steps.lowers_path or steps.documents)
        self.slots.strict.extra += POLICY_EXTRA

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

    def __dealloc__(self):
        free(self.steps.document)
        free(self.steps.name)

    cdef int set_documents(self, list names) except -1:
        self.steps.document = self.names_of(names)
        self.steps.documents = <size_t>len(names)
        return 0

    cdef int set_names(self, list names) except -1:
        cdef int c
        cdef size_t i = 0
        self.steps.name = self.names_of(names)
        for c in range(256):
            self.steps.first[c] = <uint16_t>i
            while i < <size_t>len(names) and self.steps.name[i].text[0] == c:
                i += 1
        self.steps.first[256] = <uint16_t>i
        return 0

    cdef ParameterName *names_of(self, list names) except NULL:
        cdef ParameterName *found = <ParameterName *>malloc((<size_t>len(names) + 1) * sizeof(ParameterName))
        cdef size_t i
        if found == NULL:
            raise MemoryError  # pragma: no cover: no memory
        self.texts = [names, *(self.texts or [])]   # what the pointers point to
        for i in range(<size_t>len(names)):
            found[i].text = <const uint8_t *>PyBytes_AS_STRING(<bytes>names[i])
            found[i].size = <size_t>len(<bytes>names[i])
            found[i].is_prefix = (<bytes>names[i]).endswith(b"*")
            found[i].size -= found[i].is_prefix
        return found
