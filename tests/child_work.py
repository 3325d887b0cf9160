"""Work for a child process in tests, and a parent that can be killed."""

import os
import signal
import sys
import time
from collections.abc import Sequence

from collector.folding.messages import Lot, Pieces
from collector.folding.work import Work
from gnomon.child import Child

POISON = "dead" * 8
"""A trace that ends the process which folds it."""

MEND = "Mend it."


def echo(hello: bytes) -> object:
    """Answer with the greeting, the process id and what came; words make it do other things."""

    def answer(pieces: Pieces) -> Sequence[bytes]:
        match pieces[0]:
            case b"die":
                os.kill(os.getpid(), signal.SIGKILL)
            case b"sleep":
                time.sleep(600)
            case b"print":
                sys.stdout.write("not into the pipe\n")
        return [hello, str(os.getpid()).encode(), *pieces]

    return answer


class Poisoned(Work):
    """Folds, but for one trace."""

    def __call__(self, pieces: Pieces) -> Pieces:
        if POISON in Lot.read(pieces).traces:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(pieces)


class Sleepy(Work):
    """Folds, but sleeps over lots of more than one trace."""

    def __call__(self, pieces: Pieces) -> Pieces:
        if len(Lot.read(pieces).traces) > 1:
            time.sleep(600)
        return super().__call__(pieces)


def main() -> None:
    """Be a parent whose child is at work: print the child's process id, then wait for ever."""
    child = Child("tests.child_work:echo", b"", patience=600, mend=MEND)
    sys.stdout.write(f"{child.ask([b'ready'])[1].decode()}\n")
    sys.stdout.flush()
    child.ask([b"sleep"])


if __name__ == "__main__":
    main()
