// Uploads of the same sizes in every step, more than a batch explains: weights, constants or
// optimizer state that live on the host.
//
// A batch is one to a few tensors that come in one go, and the step is computed from them. What
// comes back is something else when there are many of them, when they take far longer than the
// computing, or when the computing stops for one after the other: layers whose weights come one
// layer ahead. The next token of a sequence takes no batch at all: large uploads are none.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

// What a program that takes batches would call these uploads.
enum class UploadLooks {
  kConstant,  // more than a batch explains
  // They come in one go, are of one size or small, or the computing waits for the last of those of
  // one size only; and nothing else is uploaded: the batch, in pieces.
  kBatchInPieces,
  // They are few, and take no longer than what is computed from them: nothing tells a constant from
  // the next frame of a pipeline. Not reported.
  kBatch,
};

struct RepeatedUploads {
  Loss loss;
  std::string memory;  // "pinned", "pageable", "mixed"
  UploadLooks looks = UploadLooks::kConstant;
  // Results of what is computed from them go back to the host: unless a model is trained, whose
  // gradients go back as well, they are new each time.
  bool answered = false;
};

// `copies`: ops of the window. `sync_of_copy`: by a copy's call, the call that waits for it alone.
// `in_series`: by op, 1 for small copies in series, which are arguments or a batch in pieces.
// Where ranges name the loading of data, what ranges of loading or of transfers send is the batch.
// `of_tokens`: each step generates a token.
// O(ops + steps).
RepeatedUploads FindRepeatedUploads(
    const Basis& basis, const Phases& phases, const std::vector<std::uint32_t>& copies,
    const std::vector<std::uint8_t>& in_series,
    const std::unordered_map<std::uint32_t, std::uint32_t>& sync_of_copy, double link_bytes_per_s,
    bool of_tokens);

}  // namespace advise
