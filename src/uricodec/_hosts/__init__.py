"""Hosts as members of sets: host sets, sets of URL prefixes, and public suffixes.

- _table: the hash table of all three, which may be saved
- _entries: entries of hosts and prefixes, from lists; matching URLs
- sets: HostSet and PrefixSet, their files
- _suffixes: public suffixes and registrable domains
- suffix_list: the rules of the Public Suffix List

Users import them from `uricodec.uri`.
"""
