#include "engine/scrub/scrub_kineto.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <unordered_map>

#include "engine/base/ascii.h"
#include "engine/base/leftovers.h"
#include "engine/base/replace.h"
#include "engine/import/byte_source.h"
#include "engine/import/kineto/kineto_stream.h"
#include "engine/import/text_input.h"
#include "engine/scrub/byte_sink.h"
#include "engine/scrub/scrub_text.h"

namespace advise {
namespace {

namespace dom = simdjson::dom;
using kineto::Arg;
using kineto::Category;
using kineto::Event;

constexpr std::size_t kMostRemembered = 200'000;  // cleaned texts: names come again and again

constexpr auto kArgCount = static_cast<std::size_t>(Arg::kCount);

bool IsKeptHeader(std::string_view key) {
  return key == "schemaVersion" || key == "deviceProperties" || key == "distributedInfo" ||
         key == "record_shapes" || key == "profile_memory" || key == "displayTimeUnit" ||
         key == "baseTimeNanoseconds" || key.starts_with("with_") || key.ends_with("_version");
}

bool IsNumber(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const std::size_t first = at;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    return at > from;
  };
  if (!digits() || (text[first] == '0' && at > first + 1)) return false;
  if (at < text.size() && text[at] == '.' && (++at, !digits())) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == text.size();
}

std::string JsonQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// First pass: who and where.
class Learner : public kineto::Visitor {
 public:
  explicit Learner(TextScrubber* scrubber) : scrubber_(*scrubber) {}

  void OnEvent(const Event& event) override {
    Paths(event.name);
    for (std::size_t i = 0; i < kArgCount; ++i) Paths(event.Text(static_cast<Arg>(i)));
  }
  void OnHeader(std::string_view key, std::string_view json) override {
    dom::parser parser;
    dom::element value;
    if (parser.parse(json.data(), json.size()).get(value) == simdjson::SUCCESS) Learn(key, value);
  }

 private:
  void Paths(std::string_view raw) {
    if (raw.find("home") == std::string_view::npos && raw.find("sers") == std::string_view::npos) {
      return;
    }
    scrubber_.LearnPaths(kineto::Unescaped(raw));
  }
  void Learn(std::string_view key, const dom::element& value) {
    dom::object object;
    dom::array array;
    std::string_view text;
    if (value.get(object) == simdjson::SUCCESS) {
      for (const auto& field : object) Learn(field.key, field.value);
    } else if (value.get(array) == simdjson::SUCCESS) {
      for (const dom::element item : array) Learn(key, item);
    } else if (value.get(text) == simdjson::SUCCESS) {
      LearnText(Lower(key), std::string(text));
    }
  }

  // Users write what they like into a trace: only what is sure to name somebody is learned, since
  // it is replaced wherever it stands. "author": "pytorch" must not take that word out of kernels.
  void LearnText(const std::string& key, const std::string& value) {
    const auto is = [&key](std::initializer_list<const char*> names) {
      return std::any_of(names.begin(), names.end(), [&](const char* name) { return key == name; });
    };
    const bool digit = value.find_first_of("0123456789") != std::string::npos;
    scrubber_.LearnPaths(value);
    if (TextScrubber::IsSecretName(key) && digit && value.size() >= 8) {
      scrubber_.LearnSecret(value);
    }
    const bool host = is({"host", "hostname", "host_name", "node", "nodename", "node_name",
                          "machine", "slurmd_nodename", "master_addr"});
    if (host && (digit || value.find_first_of(".-") != std::string::npos)) {
      scrubber_.LearnHost(value);
    }
    const bool user = is({"user", "username", "user_name", "logname", "owner", "slurm_job_user"});
    const bool word = value == "python" || value == "pytorch" || value == "torch" ||
                      value == "worker" || value == "main" || value == "cuda";
    if (user && value.size() >= 3 && !word) scrubber_.LearnUser(value);
  }

  TextScrubber& scrubber_;
};

// Second pass: what is kept, cleaned.
class Writer : public kineto::Visitor {
 public:
  Writer(TextScrubber* scrubber, ByteSink* sink, ScrubSummary* summary)
      : scrubber_(*scrubber), gone_(scrubber->MustBeGone()), sink_(*sink), summary_(*summary) {
    sink_.Write("{");
  }

  void OnEvent(const Event& event) override {
    if (kineto::IsSkipped(event)) {
      ++summary_.events_left_out;
      return;
    }
    if (!in_events_) {
      sink_.Write(after_key_ ? ",\n\"traceEvents\": [\n" : "\n\"traceEvents\": [\n");
      in_events_ = true;
    }
    line_ = summary_.events_kept++ == 0 ? "{" : ",\n{";
    Field("ph", event.phase);
    if (!event.category_text.empty()) {
      line_ += ", \"cat\": ";
      // Words of the format name nobody; what is none of them is a text like any other.
      line_ += event.category == Category::kUnknown ? Text(event.category_text)
                                                    : JsonQuoted(Unescaped(event.category_text));
    }
    line_ += ", \"name\": " +
             (event.category == Category::kPython ? Frame(event.name) : Text(event.name));
    Field("pid", event.pid);
    Field("tid", event.tid);
    Field("ts", event.start);
    Field("dur", event.duration);
    std::string args;
    const auto add = [&args](std::string_view name, const std::string& value) {
      args += fmt::format("{}\"{}\": {}", args.empty() ? "" : ", ", name, value);
    };
    for (std::size_t i = 0; i < kArgCount; ++i) {
      const auto arg = static_cast<Arg>(i);
      if (!event.Has(arg)) continue;
      add(kineto::NameOf(arg), IsInputList(arg) ? List(event.Text(arg)) : Scalar(event.Text(arg)));
    }
    const auto triple = [&](const char* name, const std::array<std::uint32_t, 3>& of) {
      if (of != std::array<std::uint32_t, 3>{}) {
        add(name, fmt::format("[{}, {}, {}]", of[0], of[1], of[2]));
      }
    };
    triple("grid", event.grid);
    triple("block", event.block);
    if (!args.empty()) line_ += ", \"args\": {" + args + "}";
    line_ += '}';
    sink_.Write(line_);
  }

  void OnHeader(std::string_view key, std::string_view json) override {
    if (!IsKeptHeader(key)) {
      ++summary_.tables_left_out;
      return;
    }
    dom::parser parser;
    dom::element value;
    if (parser.parse(json.data(), json.size()).get(value) != simdjson::SUCCESS) {
      ++summary_.tables_left_out;
      return;
    }
    ++summary_.tables_kept;
    EndEvents();
    std::string text = after_key_ ? ",\n" : "\n";
    text += JsonQuoted(key) + ": " + Clean(value);
    sink_.Write(text);
    after_key_ = true;
  }

  void End() {
    if (!in_events_ && !had_events_) {
      sink_.Write(after_key_ ? ",\n\"traceEvents\": [" : "\n\"traceEvents\": [");
      in_events_ = true;
    }
    EndEvents();
    sink_.Write("\n}\n");
  }

 private:
  static std::string Unescaped(std::string_view raw) { return kineto::Unescaped(raw); }

  void EndEvents() {
    if (!in_events_) return;
    sink_.Write("\n]");
    in_events_ = false;
    had_events_ = after_key_ = true;
  }

  void Field(const char* name, std::string_view raw) {
    if (raw.empty()) return;
    line_ += fmt::format("{}\"{}\": {}", line_.back() == '{' ? "" : ", ", name, Scalar(raw));
  }

  std::string Scalar(std::string_view raw) {
    if (IsNumber(raw) || raw == "true" || raw == "false") return std::string(raw);
    return Text(raw);
  }

  // JSON of an operator's inputs: numbers, and words of the framework.
  std::string List(std::string_view json) {
    dom::element list;
    if (list_parser_.parse(json.data(), json.size()).get(list) != simdjson::SUCCESS) return "[]";
    return Clean(list);
  }

  std::string CleanWords(const std::string& text) {
    std::string clean = scrubber_.Clean(text);
    // Inside other words, too: a machine's name in a file's.
    for (const std::string& word : gone_) {
      for (std::size_t at = clean.find(word); at != std::string::npos; at = clean.find(word, at)) {
        clean.replace(at, word.size(), "x");
      }
    }
    return clean;
  }

  const std::string& Text(std::string_view raw) {
    if (remembered_.size() > kMostRemembered) remembered_.clear();
    const auto [at, fresh] = remembered_.try_emplace(std::string(raw));
    if (fresh) at->second = JsonQuoted(CleanWords(Unescaped(raw)));
    return at->second;
  }

  // Well-known libraries keep their place inside, others only that they are libraries: diagnoses
  // tell them from the program by it. Folders above are dropped, the program's files renamed.
  std::string PathOfFrame(const std::string& path) {
    constexpr std::array<std::string_view, 12> kKnown = {
        "torch/",      "torchvision/", "torchaudio/", "transformers/", "numpy/",    "deepspeed/",
        "accelerate/", "lightning/",   "triton/",     "flash_attn/",   "megatron/", "vllm/"};
    const auto known = [&](std::string_view rest) {
      return std::any_of(kKnown.begin(), kKnown.end(),
                         [&](std::string_view root) { return rest.starts_with(root); });
    };
    for (const std::string_view packages : {"site-packages/", "dist-packages/"}) {
      const std::size_t at = path.find(packages);
      if (at == std::string::npos) continue;
      const std::string rest = path.substr(at + packages.size());
      return std::string(packages) + (known(rest) ? CleanWords(rest) : scrubber_.CleanFile(rest));
    }
    const std::string file = path.substr(path.find_last_of("/\\") + 1);
    for (const std::string_view part : {"lib/python", "torch/", "multiprocessing/"}) {
      const std::size_t at = path.find(part);
      if (at == std::string::npos) continue;
      if (at == 0 && part == "torch/") return CleanWords(path);
      return std::string(part) + (part.ends_with('/') ? "" : "/") + scrubber_.CleanFile(file);
    }
    const bool of_python = path == "threading.py" || path == "contextlib.py" ||
                           path == "runpy.py" || path.starts_with("<frozen");
    return of_python ? path : scrubber_.CleanFile(path);
  }

  // "/home/me/train.py(62): step".
  const std::string& Frame(std::string_view raw) {
    if (frames_.size() > kMostRemembered) frames_.clear();
    const auto [at, fresh] = frames_.try_emplace(std::string(raw));
    if (!fresh) return at->second;
    const std::string name = Unescaped(raw);
    const std::size_t end = name.find(".py(");
    std::string clean;
    if (end != std::string::npos) {
      clean = PathOfFrame(name.substr(0, end + 3)) + CleanWords(name.substr(end + 3));
    } else {
      clean = CleanWords(name);
    }
    return at->second = JsonQuoted(clean);
  }

  std::string Clean(const dom::element& value) {
    dom::object object;
    dom::array array;
    std::string_view text;
    if (value.get(object) == simdjson::SUCCESS) {
      std::string all;
      for (const auto& field : object) {
        all += (all.empty() ? "" : ", ") + JsonQuoted(CleanWords(std::string(field.key))) + ": " +
               Clean(field.value);
      }
      return "{" + all + "}";
    }
    if (value.get(array) == simdjson::SUCCESS) {
      std::string all;
      for (const dom::element item : array) all += (all.empty() ? "" : ", ") + Clean(item);
      return "[" + all + "]";
    }
    if (value.get(text) == simdjson::SUCCESS) return JsonQuoted(CleanWords(std::string(text)));
    return simdjson::minify(value);
  }

  TextScrubber& scrubber_;
  const std::set<std::string> gone_;
  ByteSink& sink_;
  ScrubSummary& summary_;
  std::unordered_map<std::string, std::string> remembered_, frames_;
  std::string line_;
  dom::parser list_parser_;
  bool in_events_ = false, had_events_ = false, after_key_ = false;
};

}  // namespace

Result<ScrubSummary> ScrubKineto(const std::string& trace, const std::string& output) {
  TextScrubber scrubber;
  ScrubSummary summary;
  summary.is_trace = true;
  auto source = OpenBytes(trace, true);
  if (!source) return tl::unexpected(source.error());
  Learner learner(&scrubber);
  const kineto::StreamStats stats = kineto::ReadChromeTrace(**source, learner);
  if (!stats.has_events || stats.events == 0) {
    return Fail("the trace holds no events", trace, "was the file copied completely?");
  }
  source = OpenBytes(trace, true);
  if (!source) return tl::unexpected(source.error());
  const std::string unfinished = output + ".unfinished";
  const Leftover leftover(unfinished);
  std::error_code failed;
  std::filesystem::remove(unfinished, failed);
  auto sink = CreateFile(unfinished, output.ends_with(".gz"));
  if (!sink) return tl::unexpected(sink.error());
  Writer writer(&scrubber, sink->get(), &summary);
  const kineto::StreamStats again = kineto::ReadChromeTrace(**source, writer);
  writer.End();
  const Result<void> closed = (*sink)->Close();
  if (!closed) {
    std::filesystem::remove(unfinished, failed);
    return tl::unexpected(closed.error());
  }
  if (const auto moved = MoveIntoPlace(unfinished, output); !moved)
    return tl::unexpected(moved.error());
  summary.events_broken = static_cast<std::size_t>(again.broken);
  summary.hosts = scrubber.hosts();
  summary.users = scrubber.users();
  summary.paths = scrubber.paths();
  summary.secrets = scrubber.secrets();
  return summary;
}

}  // namespace advise
