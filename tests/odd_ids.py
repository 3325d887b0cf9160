"""Run ids that a sender may choose, and that break addresses built without care."""

ODD_IDS = (
    "order/17",
    "acme/api#17",
    "a?b=c#d",
    "50%",
    "%2e%2e",
    "..",
    ".",
    "a/../b",
    "/lead/",
    "line\nbreak",
    "a/steps",
    "a/steps/b",
    "a/judgments",
    "~",
    "~order~2F17",
    "two words",
    "back\\slash",
    "grün/é",
    "<b>&\"'",
)
