"""How much one visitor may ask of the lab, and how a request is refused: always with a status and one sentence."""

from __future__ import annotations

from dataclasses import dataclass


class Refusal(Exception):
    """A request that the lab does not serve; `sentence` tells the visitor why and what to do."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


@dataclass(frozen=True)
class Limits:
    """Sizes that keep the page quick and the server alive; the library itself has no such limits."""

    units: int = 4096
    """N, visible neurons."""
    frames: int = 400
    """T, patterns of all sequences together."""
    hidden: int = 2000
    """M, hidden neurons."""
    weights: int = 12_500_000
    """Numbers in one network, 100 MB of them."""
    epochs: int = 5000
    order: int = 6
    steps: int = 1000
    states: int = 2_000_000
    """Steps of recall * N."""
    body: int = 1_000_000
    """Bytes of a JSON request."""
    upload: int = 8_000_000
    """Bytes of the dropped files together."""
    unpacked: int = 64_000_000
    """Bytes that the arrays in a dropped npz file may have."""
    pixels: int = 4_000_000
    """Of one dropped picture."""
    visits: int = 200
    """Open pages; the one that was idle longest gives way."""
    idle_seconds: float = 3600.0
    network_bytes: int = 1_500_000_000
    """Of the networks of all visitors; those that were idle longest are forgotten."""
    workers: int = 2
    """Visitors whose networks learn at the same time."""
    waiting: int = 40
    """Visitors who may wait for that."""
    seconds: float = 120.0
    """How long one visitor's networks may learn in one go."""

    def check_sequence(self, frames: int, units: int) -> None:
        """Refuse sequences that are too large."""
        if units > self.units:
            raise Refusal(413, f"The lab takes patterns of up to {self.units} units, but these have {units}; make them smaller.")
        if frames > self.frames:
            raise Refusal(413, f"The lab takes up to {self.frames} frames, but these are {frames}; leave some out.")
        if frames < 2:
            raise Refusal(400, "A sequence needs at least two frames.")

    def check_network(self, weights: int, what: str) -> None:
        """Refuse networks that are too large."""
        if weights > self.weights:
            raise Refusal(
                413,
                f"{what} would have {weights / 1e6:.1f} million weights; the lab goes up to {self.weights / 1e6:.0f} million; "
                "use fewer hidden neurons or smaller patterns, or the library on your own machine.",
            )
