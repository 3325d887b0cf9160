"""What gnomon.yaml says to scoring: which policies and graders judge the runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gnomon.errors import ConfigError
from gnomon.model import JsonValue
from gnomon.watch import Watch, read
from scoring.grading.budget import Budget
from scoring.grading.citations import Citations
from scoring.grading.claim import Claim
from scoring.grading.convergence import Convergence
from scoring.grading.outcome import OutcomeCheck
from scoring.grading.plugins import Own, Plugin, load
from scoring.grading.policy import PolicyGrader
from scoring.grading.port import Grader, Surface
from scoring.grading.recovery import Recovery
from scoring.grading.schema import Schema
from scoring.grading.sources import Sources
from scoring.grading.spec import BuiltIn, GraderSpec, Means, Said
from scoring.policies.language import Policy, policy_of, refuse_wrong_schemas

SECTIONS = frozenset({"policies", "graders"})

BUILT_IN: Mapping[str, type[GraderSpec]] = {
    "outcome_check": OutcomeCheck,
    "claim": Claim,
    "schema": Schema,
    "budget": Budget,
    "convergence": Convergence,
    "recovery": Recovery,
    "citations": Citations,
}

Place = tuple[int | str, ...]


class PolicyEntry(Said):
    """A policy in a file of its own, shared with replay; beside it what only production says."""

    file: Path
    surface: Surface = Surface.POLICY


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Scoring's part of gnomon.yaml, validated."""

    policies: Sequence[PolicyGrader] = ()
    graders: Sequence[GraderSpec | Plugin] = ()
    plugins: Mapping[int, Own] = field(default_factory=dict)
    """The loaded plug-ins by their place in `graders`."""

    def built(self, means: Means) -> Sequence[Grader]:
        """Return every policy and grader, ready to judge, in the order of the file."""
        made: list[Grader] = list(self.policies)
        for place, spec in enumerate(self.graders):
            if isinstance(spec, Plugin):
                made.append(self.plugins[place].until(means.stop))
            else:
                made.append(_made(spec, means))
        return made

    def described(self) -> Mapping[str, JsonValue]:
        """Return what is set up, as JSON values."""
        return {
            "policies": [grader.policy.model_dump(mode="json") for grader in self.policies],
            "graders": [spec.model_dump(mode="json", by_alias=True) for spec in self.graders],
        }


def watched(watch: Watch) -> Watched:
    """Return scoring's sections; raises ConfigError that names file, line and mend."""
    graders = [
        _grader(watch, ("graders", place), entry)
        for place, entry in enumerate(_listed(watch, "graders"))
    ]
    policies = [
        _policy(watch, ("policies", place), entry)
        for place, entry in enumerate(_listed(watch, "policies"))
    ]
    plugins = {
        place: _loaded(watch, ("graders", place), spec)
        for place, spec in enumerate(graders)
        if isinstance(spec, Plugin)
    }
    names: list[tuple[Place, str]] = [
        *((("policies", place), policy.name) for place, policy in enumerate(policies)),
        *(
            (("graders", place), plugins[place].name if place in plugins else str(spec.name))
            for place, spec in enumerate(graders)
        ),
    ]
    _refuse_twins(watch, names)
    return Watched(
        policies=policies,
        graders=graders,
        plugins=plugins,
    )


def _policy(watch: Watch, place: Place, entry: JsonValue) -> PolicyGrader:
    if not isinstance(entry, Mapping):
        raise ConfigError(watch.complaint(place, "a policy is a mapping: write `- file: x.yaml`"))
    if "file" in entry:
        said = watch.validate(entry, PolicyEntry, at=place)
        path = Path(watch.name).parent / said.file
        if not path.is_file():
            what = f"{path} is a directory" if path.is_dir() else f"there is no file {path}"
            mend = f"{what}; paths start at the folder of {watch.name}"
            raise ConfigError(watch.complaint((*place, "file"), mend))
        policy = policy_of(read(path), default_name=path.stem)
        return PolicyGrader(policy=policy, surface=said.surface)
    rules = {name: value for name, value in entry.items() if name != "surface"}
    surface = {"file": "inline", "surface": entry.get("surface", Surface.POLICY)}
    said = watch.validate(surface, PolicyEntry, at=place)
    if not rules.get("policy"):
        mend = "give it a name (`policy: refunds`), or write `file:` for one in a file of its own"
        raise ConfigError(watch.complaint(place, mend))
    policy = watch.validate(rules, Policy, at=place)
    refuse_wrong_schemas(watch, policy, place)
    return PolicyGrader(policy=policy, surface=said.surface)


def _grader(watch: Watch, place: Place, entry: JsonValue) -> GraderSpec | Plugin:
    type_ = entry.get("type") if isinstance(entry, Mapping) else None
    if type_ == "plugin":
        return watch.validate(entry, Plugin, at=place)
    model = BUILT_IN.get(type_) if isinstance(type_, str) else None
    if model is None:
        known = ", ".join([*BUILT_IN, "plugin"])
        where = (*place, "type") if isinstance(entry, Mapping) and "type" in entry else place
        raise ConfigError(watch.complaint(where, f"type must be one of {known}"))
    spec = watch.validate(entry, model, at=place)
    if isinstance(spec, Sources):
        _refuse_wrong_source(watch, place, spec)
    return spec


def _refuse_wrong_source(watch: Watch, place: Place, spec: Sources) -> None:
    keys = watch.data.get("business_keys")
    wrong = spec.problems(keys if isinstance(keys, Mapping) else ())
    lines = [watch.complaint((*place, *where), why) for where, why in wrong]
    if lines:
        raise ConfigError("\n".join(lines))


def _made(spec: GraderSpec, means: Means) -> Grader:
    return BuiltIn(
        name=spec.name,
        version=spec.stored_version,
        surface=spec.surface,
        scope=spec.scope,
        look=spec.judge(means),
    )


def _loaded(watch: Watch, place: Place, spec: Plugin) -> Own:
    try:
        return load(spec)
    except ValueError as error:
        raise ConfigError(watch.complaint((*place, "entry"), str(error))) from error


def _refuse_twins(watch: Watch, names: Sequence[tuple[Place, str]]) -> None:
    seen: dict[str, Place] = {}
    for place, name in names:
        if name in seen:
            other = ".".join(str(part) for part in seen[name])
            mend = f"{name} is the name of {other} as well; give each its own"
            raise ConfigError(watch.complaint(place, mend))
        seen[name] = place


def _listed(watch: Watch, section: str) -> Sequence[JsonValue]:
    value = watch.data.get(section) or []
    if not isinstance(value, list):
        raise ConfigError(watch.complaint((section,), "a list is expected"))
    return value
