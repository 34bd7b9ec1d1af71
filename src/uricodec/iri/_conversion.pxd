"""Conversions between IRIs and URIs: the declarations for modules that work on rows."""
from uricodec.iri._normalize cimport *
