// Kineto traces written by hand: events in the form that the profiler writes them.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/import/importer.h"
#include "tests/support/seeds.h"

namespace advise {

// A file of its own, gone with the object.
class TextFile {
 public:
  explicit TextFile(const std::string& text, const std::string& suffix = ".json") {
    static int number = 0;
    path_ = (std::filesystem::temp_directory_path() / ("advise-kineto-" + std::to_string(getpid()) +
                                                       "-" + std::to_string(number++) + suffix))
                .string();
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TextFile() {
    testing::KeepAsSeed(path_);
    std::filesystem::remove(path_);
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string Event(const std::string& category, const std::string& name, int pid, int tid,
                         const std::string& start, const std::string& duration,
                         const std::string& args = "") {
  return "  {\n    \"ph\": \"X\", \"cat\": \"" + category + "\", \"name\": \"" + name +
         "\", \"pid\": " + std::to_string(pid) + ", \"tid\": " + std::to_string(tid) +
         ",\n    \"ts\": " + start + ", \"dur\": " + duration + ",\n    \"args\": {\n      " +
         args + "\n    }\n  }";
}

inline std::string Kernel(const std::string& name, const std::string& start,
                          const std::string& duration, int correlation, int device = 0,
                          int stream = 7, const std::string& more = "") {
  return Event("kernel", name, device, stream, start, duration,
               "\"device\": " + std::to_string(device) + ", \"context\": 1, \"stream\": " +
                   std::to_string(stream) + ", \"correlation\": " + std::to_string(correlation) +
                   ", \"registers per thread\": 32, \"shared memory\": 2112, \"grid\": [4, 3, 2], "
                   "\"block\": [128, 1, 1]" +
                   more);
}

inline std::string Call(const std::string& name, const std::string& start,
                        const std::string& duration, int correlation, int tid = 17) {
  return Event("cuda_runtime", name, 17, tid, start, duration,
               "\"cbid\": 211, \"correlation\": " + std::to_string(correlation));
}

inline std::string TraceText(const std::vector<std::string>& events, const std::string& header = "",
                             const std::string& trailer = "") {
  std::string text = "{\n  \"schemaVersion\": 1,\n" + header + "  \"traceEvents\": [\n";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i > 0 ? ",\n" : "") + events[i];
  return text + "\n  ]" + trailer + "\n}\n";
}

inline Result<Trace> ImportText(const std::string& text, const std::string& suffix = ".json") {
  const TextFile file(text, suffix);
  for (const Importer& importer : Importers()) {
    if (importer.kind == "kineto") return ImportWith(importer, file.path(), {});
  }
  return Fail("no importer of the kind", file.path());
}

inline Trace Imported(const std::string& text, const std::string& suffix = ".json") {
  Result<Trace> trace = ImportText(text, suffix);
  if (!trace) FAIL(trace.error().Line());
  return std::move(*trace);
}

inline std::int64_t Reported(const Trace& trace, const std::string& part) {
  for (const Diagnostic& diagnostic : trace.diagnostics.list()) {
    if (diagnostic.text.find(part) != std::string::npos) return diagnostic.count;
  }
  return 0;
}

}  // namespace advise
