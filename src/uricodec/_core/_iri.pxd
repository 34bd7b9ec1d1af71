"""IRIs to URIs and back: what modules share that work on rows."""
from uricodec._core._iri_forms cimport *
