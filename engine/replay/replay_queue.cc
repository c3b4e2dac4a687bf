// How many launches a full queue held when it let a call go.
#include "engine/replay/replay.h"

namespace advise {

void Replay::CountLaunches() {
  for (std::uint32_t i = 0; i < ops_.size(); ++i)
    if (ops_[i].call != kNone) calls_[ops_[i].call].last_op = i;
  std::vector<std::size_t> launches(queue_depth_.size(), 0);
  for (const Node& node : order_) {
    if (node.event != Event::kCallEnd) continue;
    HostCall& call = calls_[node.index];
    if (call.stream != kNone) call.place = launches[call.stream]++;
  }
  for (HostCall& call : calls_) {
    if (!call.held || call.stream == kNone || ops_[call.awaited_op].call == kNone) continue;
    const HostCall& done = calls_[ops_[call.awaited_op].call];
    if (done.stream == call.stream && done.place < call.place) call.room = call.place - done.place;
  }
}

}  // namespace advise
