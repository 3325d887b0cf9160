"""Promise 1, for the spool: what was acknowledged survives kill -9."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from collector.queue.database import FILE
from tests.spools import Hands, opened, request, row


@pytest.fixture
def clock() -> Hands:
    return Hands()


KILLED = """
import os, sys, threading
from pathlib import Path
from collector.queue.spool import Spool
from gnomon.clock import utc_now
from gnomon.config import QueueSettings
from tests.spools import request
spool = Spool(Path(sys.argv[1]), QueueSettings(), clock=utc_now)
spool.start()
def put(worker):
    for number in range(10**6):
        name = f"{worker}-{number}"
        spool.put(request(name, size=5000)).result()
        os.write(1, f"{name}\\n".encode())
def store():
    while True:
        spool.stored(spool.take(50_000, 0.01))
for worker in range(4):
    threading.Thread(target=put, args=(worker,), daemon=True).start()
store()
"""


@pytest.mark.parametrize("lines", [20, 150])
def test_what_was_acknowledged_survives_kill_9_and_the_ledger_balances(tmp_path, clock, lines):
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        text=True,
    )
    assert child.stdout is not None
    with child.stdout:
        acknowledged = [child.stdout.readline().strip() for _ in range(lines)]
        os.kill(child.pid, signal.SIGKILL)
        acknowledged += [line.strip() for line in child.stdout.readlines() if line.endswith("\n")]
    child.wait(10)
    spool = opened(tmp_path, clock)
    for name in acknowledged:
        assert spool.put(request(name, size=5000)).result(5) is False
    db = sqlite3.connect(tmp_path / FILE)
    (waiting,) = db.execute("SELECT coalesce(sum(items), 0) FROM queue").fetchone()
    (known,) = db.execute("SELECT count(*) FROM seen").fetchone()
    db.close()
    assert (row(spool).pending, row(spool).received) == (waiting, 3 * known)
    spool.stop(5)
