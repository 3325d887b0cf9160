"""Steps know who stands above them, and what the trace says of them."""

from tests.spans import make_span, run_of, span_id, steps_of

AGENT = {"gen_ai.operation.name": "invoke_agent"}
CHAT = {"gen_ai.operation.name": "chat"}


def agent(number, parent="", name=None, **changes):
    own = {} if name is None else {"gen_ai.agent.name": name}
    return make_span(number, parent, attributes={**AGENT, **own}, **changes)


def test_a_step_has_its_own_agent_else_the_nearest_one_above():
    steps = steps_of(
        agent(1, name="outer"),
        make_span(2, 1, attributes=CHAT),
        agent(3, 2, name="inner"),
        make_span(4, 3, attributes=CHAT),
        make_span(5, 3, attributes={**CHAT, "gen_ai.agent.name": "own"}),
    )
    assert [steps[n].agent_name for n in (2, 4, 5)] == ["outer", "inner", "own"]
    assert [steps[n].agent_path for n in (1, 2, 3, 4)] == [
        (),
        ("outer",),
        ("outer",),
        ("outer", "inner"),
    ]


def test_a_nameless_agent_takes_the_name_above_and_adds_none_to_the_path():
    steps = steps_of(agent(1, name="outer"), agent(2, 1), make_span(3, 2, attributes=CHAT))
    assert (steps[2].agent_name, steps[3].agent_path) == ("outer", ("outer",))


def test_the_agents_version_comes_before_that_of_the_service():
    resource = {"service.version": "9"}
    root = make_span(1, attributes={**AGENT, "gen_ai.agent.version": "3"}, resource=resource)
    below = make_span(2, 1, attributes=CHAT, resource=resource)
    beside = make_span(3, attributes=CHAT, resource=resource)
    steps = steps_of(root, below, beside)
    assert [steps[n].agent_version for n in (1, 2, 3)] == ["3", "3", "9"]


def test_a_parent_that_is_not_there_makes_an_orphan():
    step = steps_of(make_span(1, 99))[1]
    assert step.flags == ("orphan",)
    assert step.parent_span_id == span_id(99)


def test_circles_of_parents_are_cut():
    run = run_of(make_span(1, 2), make_span(2, 1), make_span(3, 3))
    assert run.spans == 3
    assert run.orphans == 2
    assert "no_root" in run.flags


def test_a_deep_chain_of_spans_is_no_trouble():
    run = run_of(*(make_span(n, n - 1 if n > 1 else "") for n in range(1, 5001)))
    assert (run.spans, run.orphans, run.complete) == (5000, 0, True)


def test_the_taker_of_a_hand_off_is_the_next_agent_put_under_the_giver():
    handoff = make_span(
        2,
        1,
        start=1,
        attributes={"gen_ai.operation.name": "handoff", "gen_ai.handoff.from_agent": "A"},
    )

    def taker(number, start, name):
        attributes = {**AGENT, "gen_ai.agent.name": name, "graph.node.parent_id": "A"}
        return make_span(number, 1, start=start, attributes=attributes)

    steps = steps_of(
        make_span(1), taker(3, 0, "earlier"), handoff, taker(4, 3, "late"), taker(5, 2, "B")
    )
    assert (steps[2].handoff_from, steps[2].handoff_to) == ("A", "B")


def test_an_end_before_the_start_is_a_bad_clock_and_no_time():
    step = steps_of(make_span(1, seconds=-3))[1]
    assert (step.duration_ns, step.flags) == (0, ("bad_clock",))


def test_what_the_receiver_mended_is_flagged():
    step = steps_of(make_span(1, attributes={"gnomon.ingest.flags": "truncated,repaired_utf8,x"}))[
        1
    ]
    assert step.flags == ("repaired_utf8", "truncated")
