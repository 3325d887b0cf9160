"""The command line: it parses, calls the API and prints."""

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
    from gnomon.errors import GnomonError

    # What a library warns of comes again as an error of ours, with the mend.
    logging.lastResort = None
    try:
        app(prog_name="gnomon")
    except GnomonError as error:
        print(f"gnomon: {error.detail}", file=sys.stderr)  # noqa: T201 - this is the command line
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # `gnomon runs list | head` closes the pipe early; that is not an error.
        sys.stderr.close()
        sys.exit(0)
