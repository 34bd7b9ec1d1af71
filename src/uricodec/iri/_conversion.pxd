"""IRIs to URIs and back: what modules share that work on rows."""
from uricodec.iri._normalize cimport *
