"""`seqattractor export`: a model in the formats of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import click

from seqattractor.cli.loading import FILE, PATH, check_not_read

EXAMPLES = """\b
Examples:
  seqattractor export cat.npz -o cat.onnx
  seqattractor export cat.npz -o cat.safetensors -o cat.nir
  seqattractor export from_elsewhere.onnx -o model.npz"""


@click.command(name="export", epilog=EXAMPLES)
@click.argument("model", type=PATH)
@click.option(
    "-o",
    "--out",
    multiple=True,
    required=True,
    type=FILE,
    help="What to write, by its ending: .onnx, .nir, .safetensors or .npz; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(model: Path, out: tuple[Path, ...], as_json: bool) -> None:
    """Write a MODEL for other tools: ONNX for runtimes, NIR for neuromorphic hardware, safetensors
    for arrays.

    Every command that reads a model reads .onnx and .safetensors files, too. ONNX and NIR take
    networks of threshold neurons that see their last patterns alone; all others can be written as
    .safetensors.
    """
    from seqattractor.networks import load

    for path in out:
        check_not_read(path, [model])
    net = load(model)
    for path in out:
        net.export(path)
    written = [
        {
            "file": str(path),
            "format": path.suffix.lower().removeprefix("."),
            "bytes": path.stat().st_size,
        }
        for path in out
    ]
    if as_json:
        click.echo(
            json.dumps(
                {"model": str(model), "network": type(net).__name__, "written": written}, indent=1
            )
        )
        return
    for each in written:
        click.echo(f"{each['file']} holds the {type(net).__name__} ({each['bytes']} bytes).")
