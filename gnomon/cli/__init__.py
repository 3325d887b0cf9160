"""The command line: it parses, calls the API and prints."""

import contextlib
import errno
import sys


def main() -> None:
    """Run the command; one line for each known error, and the exit code that says whose move it is."""
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(130)  # as a shell says it of what Ctrl+C ended


def _run() -> None:
    import logging

    from gnomon.cli.app import app
    from gnomon.cli.show import abandon_output, plain
    from gnomon.errors import ConfigError, GnomonError

    # What a library warns of comes again as an error of ours, with the mend.
    logging.lastResort = logging.NullHandler()
    try:
        with contextlib.ExitStack() as end:
            end.callback(sys.stdout.flush)
            app(prog_name="gnomon")
    except GnomonError as error:
        _say(plain(error.detail, lines=isinstance(error, ConfigError)))
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # `gnomon runs list | head` closes the pipe early; that is not an error.
        abandon_output()
        sys.exit(0)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        abandon_output()
        _say(f"what was asked for could not be written to standard output: {error.strerror}")
        sys.exit(_INFRASTRUCTURE)


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""The store and the queue tell these of their own files; what remains is our output."""

_INFRASTRUCTURE = 4


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        print(f"gnomon: {text}", file=sys.stderr)  # noqa: T201 - this is the command line
