#include "engine/metrics/losses/waits/function_waits.h"

namespace advise {

Loss FindFunctionWaits(const Basis& basis) {
  LossBuilder loss(basis);
  for (const GapPiece piece : basis.idle.pieces) {
    if (piece.cause != IdleCause::kHostFunction) continue;
    loss.CountPiece(piece);
    const Gap gap = basis.idle.gaps[piece.gap];
    // A thread that waits for the function goes on without it; else the op behind it does.
    if (piece.activity == Activity::kSync)
      loss.CutHost(basis.idle.ThreadOf(piece), piece.start, piece.end);
    else
      loss.remedy().freed_ops.push_back(gap.op);
  }
  return loss.Build();
}

}  // namespace advise
