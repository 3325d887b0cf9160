"""What agents and people said: messages, tool calls, documents and judgments of every dialect.

Everything here is pure. At ingest run `tool_call`, `query_told`, `evaluations` and
`content_captured`: they look at keys and parse only what they need.
`read_bodies` parses whole bodies and runs when somebody asks for a step.
"""

from collector.dialects.content.bodies import read_bodies
from collector.dialects.content.capture import content_captured, switch_for
from collector.dialects.content.documents import documents
from collector.dialects.content.evaluations import evaluations, evaluations_told
from collector.dialects.content.gist import assistant_text
from collector.dialects.content.query import query_told
from collector.dialects.content.records import LogIndex, ordered
from collector.dialects.content.tools import ToolCall, tool_call
from collector.dialects.content.where import bodies_told

__all__ = [
    "LogIndex",
    "ToolCall",
    "assistant_text",
    "bodies_told",
    "content_captured",
    "documents",
    "evaluations",
    "evaluations_told",
    "ordered",
    "query_told",
    "read_bodies",
    "switch_for",
    "tool_call",
]
