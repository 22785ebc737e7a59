"""One MM step, one call shape: step(program, y) → StepOutput (Section 3.3)."""

from __future__ import annotations

from .base import Step, StepOutput

__all__ = ["Step", "StepOutput"]
