"""Signals that end the process, so that no incomplete output stays behind."""

import sys


def end_by_signal(number, _frame):
    sys.exit(128 + number)


def catch_signals():
    """Make the signals that end the process raise SystemExit. Return their previous handlers."""
    import signal

    handlers = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        try:
            if number and signal.getsignal(number) == signal.SIG_DFL:
                handlers[number] = signal.signal(number, end_by_signal)
        except ValueError:  # not called in the main thread
            pass
    return handlers


def restore_signals(handlers):
    """Set the handlers that catch_signals() returned."""
    if handlers:
        import signal

        for number, handler in handlers.items():
            signal.signal(number, handler)


class HeldSignals:
    """Signals that end the process, Ctrl+C too, wait until the end of the `with` block, which must be short.

    Otherwise they might come between the moment when a file exists and the one when its owner knows its name.
    """

    def __init__(self):
        self._handlers = {}
        self._came = None

    def __enter__(self):
        import signal

        try:
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):
                number = getattr(signal, name, None)
                handler = number and signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._hold)
        except ValueError:  # not in the main thread, which is the one that signals interrupt
            self._handlers.clear()
        except BaseException:
            restore_signals(self._handlers)
            raise

    def _hold(self, number, _frame):
        self._came = number

    def __exit__(self, *exception):
        restore_signals(self._handlers)
        if self._came:
            import signal

            signal.raise_signal(self._came)
