"""The command tree."""

from typing import Annotated

import typer

import gnomon
from gnomon.cli import judging, metrics, records, serve, upkeep

app = typer.Typer(
    help="How good are your AI agents on real work, before and after launch?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Exit codes: 0 yes, 1 no, 2 usage or configuration, 3 not enough data, 4 infrastructure.",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"gnomon {gnomon.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """How good are your AI agents on real work, before and after launch?"""


app.command("serve")(serve.serve)
app.command("demo")(serve.demo)
app.command("doctor")(upkeep.doctor)
app.command("migrate")(upkeep.migrate)
app.add_typer(upkeep.config, name="config")
app.add_typer(records.runs, name="runs")
app.add_typer(records.spans, name="spans")
app.command("ledger")(records.ledger)
app.add_typer(records.letters, name="dead-letters")
app.add_typer(judging.policy, name="policy")
app.add_typer(judging.graders, name="graders")
app.add_typer(judging.labels, name="labels")
app.add_typer(judging.jobs, name="jobs")
app.add_typer(metrics.metrics, name="metrics")
app.add_typer(metrics.versions, name="versions")
