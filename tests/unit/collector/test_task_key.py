from collector.folding.naming import naming_of
from collector.watched import KeySource, Watched
from tests.spans import make_span


def test_a_task_is_named_by_its_own_attribute_unless_configured_elsewhere() -> None:
    told = make_span(attributes={"gnomon.task_id": "t-1", "ticket.id": "T-9"})
    usual = naming_of(Watched())
    assert usual.business_keys.of(told, None, None) == {"task_id": "t-1"}
    other = naming_of(Watched(business_keys={"task_id": KeySource(attributes=("ticket.id",))}))
    assert other.business_keys.of(told, None, None) == {"task_id": "T-9"}
