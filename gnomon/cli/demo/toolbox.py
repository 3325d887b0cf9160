"""What the agent is told about its tools: names, words and schemas."""

import json
from collections.abc import Mapping
from typing import Any

_TEXT: Mapping[str, str] = {"type": "string"}


def _definition(
    name: str, words: str, properties: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    return {
        "type": "function",
        "name": name,
        "description": words,
        "parameters": {
            "type": "object",
            "properties": {key: dict(schema) for key, schema in properties.items()},
            "required": list(properties),
            "additionalProperties": False,
        },
    }


DEFINITIONS = (
    _definition(
        "verify_identity",
        "Check that the person who writes is this customer.",
        {"customer": _TEXT},
    ),
    _definition("get_order", "Look up an order, its items and its customer.", {"order": _TEXT}),
    _definition(
        "consult_refund_policy", "Read what the refund policy says on a topic.", {"topic": _TEXT}
    ),
    _definition(
        "request_refund_approval",
        "Ask a lead to approve a refund above 100. Pay only when the status is granted.",
        {"order": _TEXT, "amount": {"type": "integer"}},
    ),
    _definition(
        "issue_refund",
        "Send money back for an order. Repeat a call with the same idempotency key only.",
        {"order": _TEXT, "amount": {"type": "integer"}, "idempotency_key": _TEXT},
    ),
    _definition(
        "inspect_order_status", "List the refunds that were paid for an order.", {"order": _TEXT}
    ),
)

DESCRIPTIONS: Mapping[str, str] = {tool["name"]: tool["description"] for tool in DEFINITIONS}

DEFINITIONS_JSON = json.dumps(DEFINITIONS, separators=(",", ":"))

SYSTEM = (
    "You work at the refund desk of a shop. Look the order up first. Verify the customer of the "
    "order and read the refund policy before any money moves. Amounts above 100 need the approval "
    "of a lead. When a payment does not answer, inspect the order before you try again. "
    "Refund what the faulty item cost, once. If you are not sure, say that a person will look at "
    "it. End with one JSON line: "
    '{"claimed_outcome": "refunded" | "not_refunded" | "needs_review", "message": "…"}.'
)
