"""Home Assistant's conditions as a gate that never opens in doubt (G1-G3)."""

from .gate import Gate
from .watch import GateWatch

__all__ = ["Gate", "GateWatch"]
