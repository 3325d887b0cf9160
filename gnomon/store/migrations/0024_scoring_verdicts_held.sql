-- What became of budgets, of required checks and of effects, and how many calls needed an approval. Of a
-- verdict of before it is known that something was broken at most, never what else was kept: such a run is
-- in no share. The columns policies_judged, budgets_judged, budget_hit, checks_missed, gates_broken and
-- doubled are written no more.
ALTER TABLE verdicts {{on_cluster}}
    ADD COLUMN IF NOT EXISTS budget Enum8('not_applicable' = 0, 'kept' = 1, 'broken' = 2, 'not_evaluable' = 3)
        DEFAULT if(budget_hit, 'not_evaluable', 'not_applicable') AFTER hard,
    ADD COLUMN IF NOT EXISTS checks Enum8('not_applicable' = 0, 'kept' = 1, 'broken' = 2, 'not_evaluable' = 3)
        DEFAULT if(checks_missed, 'not_evaluable', 'not_applicable') AFTER budget,
    ADD COLUMN IF NOT EXISTS effects Enum8('not_applicable' = 0, 'kept' = 1, 'broken' = 2, 'not_evaluable' = 3)
        DEFAULT if(doubled, 'not_evaluable', 'not_applicable') AFTER checks,
    ADD COLUMN IF NOT EXISTS gated_actions UInt32 AFTER effects,
    ADD COLUMN IF NOT EXISTS unapproved_actions UInt32 AFTER gated_actions,
    ADD COLUMN IF NOT EXISTS unclear_actions UInt32 DEFAULT toUInt32(gates_broken) AFTER unapproved_actions
