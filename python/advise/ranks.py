"""Which process of a run this one is. Nothing here talks to another process."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable, NamedTuple, Optional, Tuple

# What launchers set for each process: its rank, and how many there are. Slurm's are those of the job step: a job script
# itself is one process, however many tasks the job has.
_VARIABLES: Tuple[Tuple[str, str], ...] = (
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)


class Rank(NamedTuple):
    """The number of this process, from 0, and how many processes the run has."""

    rank: int
    world: int


def _of_torch() -> Optional[Rank]:
    # Not imported for this: a program that did not import it has no process group.
    torch: Any = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    try:
        if distributed is None or not distributed.is_available() or not distributed.is_initialized():
            return None
        return Rank(int(distributed.get_rank()), int(distributed.get_world_size()))
    except (AttributeError, RuntimeError, ValueError):
        return None


def _number(name: str) -> Optional[int]:
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        return None


def _of_environment() -> Optional[Rank]:
    for rank_name, world_name in _VARIABLES:
        rank, world = _number(rank_name), _number(world_name)
        if rank is not None and world is not None and 0 <= rank < world:
            return Rank(rank, world)
    return None


def current_rank() -> Rank:
    """The rank by torch.distributed if it is set up, else by the launcher's variables, else 0 of 1."""
    sources: Tuple[Callable[[], Optional[Rank]], ...] = (_of_torch, _of_environment)
    for source in sources:
        found = source()
        if found is not None:
            return found
    return Rank(0, 1)
