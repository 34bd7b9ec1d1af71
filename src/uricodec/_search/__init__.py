"""Search: URLs in bytes of any kind, and what other searches, such as that for URNs, have in common with it.

- _find: escapes of JSON and HTML, and texts without them; the loop over matches, which makes objects or lines; URLs
"""
