"""Search: URLs in bytes of any kind, and what other searches, such as that for URNs, have in common with it.

- _find: the loop over matches, which makes objects or lines of them; URLs
- _escapes: escapes of JSON and HTML, texts without them, and where a match is in the original
"""
