"""The thread of a part, and what is said of it."""

import time

from gnomon.service import Background


def test_a_thread_is_missed_when_it_ends_by_itself_and_not_when_it_was_told_to() -> None:
    ends = Background("ends", lambda: None)
    assert ends.problem() == "not started"
    ends.start()
    while ends.problem() is None:
        time.sleep(0.001)
    assert ends.problem() == "the thread has ended; restart this process"
    told = Background("told", lambda: told.stopping.wait(10) and None)
    told.start()
    assert told.problem() is None
    told.stop(10)
    assert told.problem() is None


def test_a_thread_that_was_never_started_can_be_stopped() -> None:
    Background("never", lambda: None).stop(1)
