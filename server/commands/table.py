"""`planner table`: the table itself."""

import typer
from rich.table import Table

from data.administration import create_table, describe_table
from server.commands.running import in_store, read_settings
from server.commands.typed import App
from server.console import out, stop

__all__ = ["app"]

app = App(help="The DynamoDB table.", no_args_is_help=True)


@app.command()
def create() -> None:
    """Create the table with its indexes, unless it is there."""
    created = in_store(create_table)
    typer.echo(f"{read_settings().table}: " + ("created" if created else "it is there already"))


@app.command()
def describe() -> None:
    """Show the table's status, size and indexes."""
    description = in_store(describe_table)
    if description is None:
        stop(f"There is no table {read_settings().table}; `planner table create` makes it.")
    table = Table("index", "partition key", "sort key", "status")
    for index in (description, *description.get("GlobalSecondaryIndexes", ())):
        keys = {key["KeyType"]: key["AttributeName"] for key in index["KeySchema"]}
        name = index.get("IndexName", description["TableName"])
        status = index.get("IndexStatus", description["TableStatus"])
        table.add_row(name, keys["HASH"], keys.get("RANGE", ""), status)
    out.print(table)
    typer.echo(f"{description.get('ItemCount', 0)} items (counted every six hours)")
