"""What every reader of URLs shares, below `parse`, `uri` and `iri`.

Readers differ on purpose: docs/guides/url-readers.md has each difference.

- _grammar: URIs and IRIs (RFC 3986, RFC 3987) in one pass: where the components are, or the first error
- _normalize: normal forms of the levels of RFC 3986 and RFC 3987
- _whatwg: URLs as browsers read and write them
- _agreed_host: the host of a web URL if all parsers find the same; kinds of addresses
- _shapes: classes of path segments, such as numbers and tokens
- _addresses: IPv4 and IPv6 addresses as text and as numbers
- _idna: hosts to A-labels and back, where that is easily seen
- _hosts: the same for all hosts, by the library `idna`
- _domains: domains of the URL Standard to ASCII
- _scripts: which scripts may stand in one label
- _characters: Normalization Forms
"""
