"""What Gnomon tells about itself may find no reader; its work goes on."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import structlog
from gnomon.telemetry import set_up_logging
set_up_logging("info", "json")
structlog.get_logger("t").info("first")
input()
for _ in range(3):
    structlog.get_logger("t").error("nobody_reads")
print("still at work", flush=True)
"""


def test_a_log_that_nobody_reads_any_more_stops_nothing() -> None:
    reading, writing = os.pipe()
    running = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=writing,
        text=True,
    )
    os.close(writing)
    assert b'"first"' in os.read(reading, 4096)
    os.close(reading)
    said, _ = running.communicate("go\n", timeout=60)
    assert said == "still at work\n"


FAILING = """
import sys
import structlog
from gnomon.telemetry import set_up_logging

def pay(card: str) -> None:
    raise ValueError("refused")

set_up_logging("info", sys.argv[1])
try:
    pay("4111" * 4)
except ValueError:
    structlog.get_logger("t").exception("broken")
"""


@pytest.mark.parametrize("style", ["console", "json"])
def test_an_error_is_told_by_its_place_and_without_what_was_in_the_variables(style: str) -> None:
    told = subprocess.run(
        [sys.executable, "-c", FAILING, style], capture_output=True, text=True, check=True
    ).stderr
    assert "ValueError: refused" in told
    assert "line 7, in pay" in told
    assert "4111" not in told
