-- What became of the rules of a run, of all and of the hard ones: where a grader could not tell, the run is
-- neither clean nor a violation. Verdicts of before say by their graders whether one could not. The columns
-- rules_judged, rule_broken and hard are written no more.
ALTER TABLE verdicts {{on_cluster}}
    ADD COLUMN IF NOT EXISTS conduct Enum8('not_applicable' = 0, 'kept' = 1, 'broken' = 2, 'not_evaluable' = 3)
        DEFAULT multiIf(
            rule_broken, 'broken',
            arrayExists(
                (surface, state) -> surface IN ('policy', 'trajectory') AND state IN ('abstained', 'failed'),
                surfaces, states
            ), 'not_evaluable',
            rules_judged, 'kept',
            'not_applicable'
        ) AFTER claim_held,
    ADD COLUMN IF NOT EXISTS hard_conduct Enum8('not_applicable' = 0, 'kept' = 1, 'broken' = 2, 'not_evaluable' = 3)
        DEFAULT multiIf(
            hard, 'broken',
            arrayExists(
                (surface, state) -> surface IN ('policy', 'trajectory') AND state IN ('abstained', 'failed'),
                surfaces, states
            ), 'not_evaluable',
            rules_judged, 'kept',
            'not_applicable'
        ) AFTER conduct
