#include "engine/report/slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "engine/base/text.h"

namespace advise {
namespace {

// Numbers of our own processes and tracks, beyond any the operating system gives out.
constexpr std::int64_t kFindings = 2'000'000'000;  // process
constexpr std::int64_t kGpus = 2'000'000'100;      // process of the first device
constexpr std::int64_t kTracks = 1'000'000'000;    // tracks that are no threads or streams

// A JSON string, quotes included.
std::string Quoted(const std::string& raw) { return nlohmann::json(SafeText(raw)).dump(); }

// Nanoseconds as the format's microseconds, exactly.
std::string Micros(Nanos ns) {
  const Nanos size = ns < 0 ? -ns : ns;
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

struct Track {
  std::int64_t process = 0;
  std::int64_t thread = 0;
};

class SliceWriter {
 public:
  explicit SliceWriter(const FindingSlice& slice) : slice_(slice) {}

  std::string Write() {
    NameProcess(kFindings, "findings of advise", -2);
    WriteMarks();
    for (const ExcerptRow& row : slice_.excerpt.rows) WriteRow(row);
    WriteFlows();
    return fmt::format(
        "{{\"displayTimeUnit\": \"ns\",\n\"otherData\": {{\"made_by\": \"advise slice\", "
        "\"finding\": {}, "
        "\"start_ns\": {}, \"end_ns\": {}, \"events_left_out\": {}}},\n\"traceEvents\": "
        "[\n{}\n]}}\n",
        slice_.finding, slice_.excerpt.start, slice_.excerpt.end, slice_.excerpt.left_out,
        fmt::join(events_, ",\n"));
  }

 private:
  void NameProcess(std::int64_t process, const std::string& name, int order) {
    if (!std::exchange(named_[process], true)) {
      events_.push_back(fmt::format(
          "{{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": {}, \"args\": {{\"name\": {}}}}}",
          process, Quoted(name)));
      events_.push_back(
          fmt::format("{{\"ph\": \"M\", \"name\": \"process_sort_index\", \"pid\": {}, \"args\": "
                      "{{\"sort_index\": {}}}}}",
                      process, order));
    }
  }
  void NameTrack(const Track& track, const std::string& name) {
    events_.push_back(
        fmt::format("{{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": {}, \"tid\": {}, "
                    "\"args\": {{\"name\": {}}}}}",
                    track.process, track.thread, Quoted(name)));
  }
  void Complete(const Track& track, const std::string& name, const char* category, Nanos start,
                Nanos end, const std::string& arguments) {
    events_.push_back(
        fmt::format("{{\"ph\": \"X\", \"name\": {}, \"cat\": \"{}\", \"pid\": {}, \"tid\": {}, "
                    "\"ts\": {}, \"dur\": {}, "
                    "\"args\": {{{}}}}}",
                    Quoted(name), category, track.process, track.thread, Micros(start),
                    Micros(end - start), arguments));
  }

  // The example and the time claimed may cut each other, so may claims on several devices: a track
  // each.
  void WriteMarks() {
    std::map<std::tuple<int, bool, std::uint32_t>, Track> tracks;
    for (const FindingSlice::Mark& mark : slice_.marks) {
      const bool example = !mark.text.empty();
      const auto [at, fresh] = tracks.try_emplace(std::tuple(mark.finding, example, mark.device));
      if (fresh) {
        at->second = {kFindings, static_cast<std::int64_t>(tracks.size())};
        std::string name = fmt::format("{}: {}", mark.finding, mark.title);
        if (!example) name += ", time claimed";
        if (mark.device < slice_.devices.size()) name += " on " + slice_.devices[mark.device];
        NameTrack(at->second, name);
      }
      Complete(at->second, example ? mark.text : mark.title, "finding", mark.start_ns, mark.end_ns,
               fmt::format("\"finding\": {}", mark.finding));
    }
  }

  Track TrackOf(const ExcerptRow& row) {
    if (row.kind == ExcerptRow::Kind::kThread) {
      NameProcess(row.process, row.process_name, 0);
      const bool calls = row.name.ends_with(": calls");
      return {row.process, calls ? row.number : kTracks + next_track_++};
    }
    const std::int64_t process = kGpus + row.device;
    NameProcess(process, slice_.devices[row.device], -1);
    const bool stream = row.kind == ExcerptRow::Kind::kStream && row.number >= 0;
    return {process, stream ? row.number : kTracks + next_track_++};
  }

  // Events of one track must nest: what cuts another goes to a track of its own.
  void WriteRow(const ExcerptRow& row) {
    struct Open {
      Track track;
      std::vector<Nanos> ends;
    };
    std::vector<Open> tracks;
    const auto add = [&](Track track, const std::string& name) {
      NameTrack(track, name);
      tracks.push_back({track, {}});
    };
    add(TrackOf(row), row.name);
    for (const ExcerptEvent& event : row.events) {
      std::size_t at = 0;
      for (;; ++at) {
        if (at == tracks.size()) {
          add({tracks.front().track.process, kTracks + next_track_++}, row.name + ", beside");
        }
        std::vector<Nanos>& ends = tracks[at].ends;
        while (!ends.empty() && ends.back() <= event.start) ends.pop_back();
        if (ends.empty() || event.end <= ends.back()) break;
      }
      tracks[at].ends.push_back(event.end);
      WriteEvent(tracks[at].track, event);
    }
  }

  void WriteEvent(const Track& track, const ExcerptEvent& event) {
    std::string arguments;
    const auto argument = [&](const char* name, const std::string& value) {
      arguments += fmt::format("{}\"{}\": {}", arguments.empty() ? "" : ", ", name, value);
    };
    if (event.bytes >= 0) argument("bytes", std::to_string(event.bytes));
    if (!event.detail.empty()) argument("detail", Quoted(event.detail));
    Complete(track, event.name, ExcerptKindName(event.kind), event.start, event.end, arguments);
    if (event.kind == ExcerptKind::kCall) calls_[event.call] = {track, event.start};
    if (event.op != kNone && event.call != kNone)
      ops_.push_back({event.call, event.op, track, event.start});
  }

  // One arrow for each piece of work, named by it: a graph launch starts many.
  void WriteFlows() {
    for (const Launched& op : ops_) {
      const auto call = calls_.find(op.call);
      if (call == calls_.end()) continue;
      const auto arrow = [&](const char* phase, const Track& track, Nanos time) {
        events_.push_back(
            fmt::format("{{\"ph\": \"{}\", \"name\": \"launch\", \"cat\": \"launch\", \"id\": {}, "
                        "\"pid\": {}, \"tid\": {}, "
                        "\"ts\": {}{}}}",
                        phase, op.op, track.process, track.thread, Micros(time),
                        *phase == 'f' ? ", \"bp\": \"e\"" : ""));
      };
      arrow("s", call->second.first, call->second.second);
      arrow("f", op.track, op.start);
    }
  }

  struct Launched {
    std::uint32_t call;
    std::uint32_t op;
    Track track;
    Nanos start;
  };

  const FindingSlice& slice_;
  std::vector<std::string> events_;
  std::map<std::int64_t, bool> named_;
  std::map<std::uint32_t, std::pair<Track, Nanos>> calls_;
  std::vector<Launched> ops_;
  std::int64_t next_track_ = 1;
};

}  // namespace

std::string RenderSlice(const FindingSlice& slice) { return SliceWriter(slice).Write(); }

}  // namespace advise
