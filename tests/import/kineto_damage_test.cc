// What is left of files that were cut off, packed, patched together, or written with errors.
#include <isa-l/igzip_lib.h>

#include <catch2/catch.hpp>

#include "engine/import/byte_source.h"
#include "engine/import/kineto/kineto_event.h"
#include "tests/import/kineto_text.h"

namespace advise {
namespace {

std::string Packed(const std::string& text) {
  std::vector<std::uint8_t> out(text.size() + 4096);
  isal_zstream stream;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<std::uint32_t>(out.size());
  REQUIRE(isal_deflate(&stream) == COMP_OK);
  return {reinterpret_cast<char*>(out.data()), stream.total_out};
}

// Kernels k0 … k(count-1), 10 us apart.
std::vector<std::string> Kernels(int count) {
  std::vector<std::string> events;
  for (int i = 0; i < count; ++i) {
    events.push_back(Kernel("k" + std::to_string(i), std::to_string(10 * i), "5", i + 1));
  }
  return events;
}

// Found by fuzzing: the brackets of the event are not those of the batch, so that the search for
// the one that closed the batch ran out of the text. AddressSanitizer tells.
TEST_CASE("an event whose pieces are missing and doubled is read within the text") {
  const std::string broken =
      R"("shared memory": 2112, "grid": [ory": 2112, "grid": [4, 3, 2], "block": [128, 1ared )"
      R"(memory": 2112, "grid": [4, 3, "block": [128, 1, 1])";
  const Trace trace = Imported(
      R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k0", "pid": 0, )"
      R"("tid": 7, "ts": 0, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": 1, )" +
      broken + R"(}}, {"ph": "X", "cat": "kernel", "name)");
  CHECK(trace.ops.size() <= 1);
  CHECK_FALSE(trace.diagnostics.list().empty());
}

TEST_CASE("gzip files are read, also of several members and with bytes behind the last") {
  const std::string text = TraceText(Kernels(100));
  CHECK(Imported(Packed(text), ".gz").ops.size() == 100);
  const std::size_t half = text.size() / 2;
  CHECK(Imported(Packed(text.substr(0, half)) + Packed(text.substr(half)), ".gz").ops.size() ==
        100);
  const Trace padded = Imported(Packed(text) + std::string(512, '\0'), ".gz");
  CHECK(padded.ops.size() == 100);
  CHECK(padded.diagnostics.list().empty());
}

TEST_CASE("unpacking ahead gives the same bytes, and may be given up half-way") {
  const TextFile file(Packed(TraceText(Kernels(20000))), ".gz");  // several blocks
  const auto all = [](ByteSource& source) {
    std::string text;
    std::string part(70000, '\0');
    while (const std::size_t count = source.Read(part.data(), part.size())) {
      text.append(part, 0, count);
    }
    return text;
  };
  const auto plain = OpenBytes(file.path());
  const auto ahead = OpenBytes(file.path(), true);
  REQUIRE(plain);
  REQUIRE(ahead);
  const std::string text = all(**plain);
  CHECK(text.size() > (5u << 20));
  CHECK(all(**ahead) == text);
  CHECK((*ahead)->Problem().empty());
  char byte = 0;
  CHECK((*ahead)->Read(&byte, 1) == 0);
  const auto dropped = OpenBytes(file.path(), true);
  REQUIRE(dropped);
  CHECK((*dropped)->Read(&byte, 1) == 1);
}

TEST_CASE("a gzip file that was cut off gives what is whole, and says so") {
  const std::string packed = Packed(TraceText(Kernels(5000)));
  const Trace trace = Imported(packed.substr(0, packed.size() / 2), ".gz");
  CHECK(trace.ops.size() > 1000);
  CHECK(trace.ops.size() < 5000);
  CHECK(Reported(trace, "the gzip file is cut off") == 1);
  std::string flipped = packed;
  for (std::size_t i = packed.size() / 2; i < packed.size() / 2 + 40; ++i) flipped[i] ^= 0x55;
  const auto damaged = ImportText(flipped, ".gz");
  if (damaged) CHECK(damaged->diagnostics.list().size() >= 1);
}

TEST_CASE("a cut file gives all events that were complete, wherever the cut is") {
  const std::string text = TraceText(Kernels(3), "", ",\n  \"traceName\": \"x\"");
  const std::size_t first = text.find("  {\n    \"ph\"");
  std::vector<std::size_t> ends;  // behind each event
  for (std::size_t at = text.find("\n  }", first); at != std::string::npos;
       at = text.find("\n  }", at + 1)) {
    ends.push_back(at + 4);
  }
  REQUIRE(ends.size() == 3);
  for (std::size_t cut = first; cut < text.size() - 2; ++cut) {
    const auto whole = static_cast<std::size_t>(
        std::count_if(ends.begin(), ends.end(), [&](std::size_t end) { return end <= cut; }));
    const auto trace = ImportText(text.substr(0, cut));
    INFO("cut at " << cut);
    if (whole == 0) {
      CHECK_FALSE(trace);
      continue;
    }
    REQUIRE(trace);
    CHECK(trace->ops.size() == whole);
    CHECK(Reported(*trace, "the file is cut off") == 1);
    CHECK(Reported(*trace, "not valid JSON") == 0);
  }
}

TEST_CASE("a broken event is skipped and counted, its neighbors are kept") {
  const std::vector<std::string> broken = {
      Event("cpu_op", "lambda \"odd", 17, 17, "1", "1"),                    // one bare quote
      Event("cpu_op", "operator\"\" _x", 17, 17, "1", "1"),                 // two
      "  {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\" \"a\", \"ts\": 1}",  // a colon is missing
      "  {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": }",
      "  {{\"ph\": \"X\"}}",
  };
  for (const std::string& event : broken) {
    std::vector<std::string> events = Kernels(4);
    events.insert(events.begin() + 2, event);
    INFO(event);
    const Trace trace = Imported(TraceText(events));
    CHECK(trace.ops.size() == 4);
    CHECK(Reported(trace, "not valid JSON") == 1);
    events = Kernels(4);
    events.push_back(event);
    const Trace last = Imported(TraceText(events, "", ",\n  \"traceName\": \"x\""));
    CHECK(last.ops.size() == 4);
    CHECK(Reported(last, "not valid JSON") == 1);
    CHECK(Reported(last, "cut off") == 0);
  }
}

TEST_CASE("an event of no use whose phase comes last is not broken") {
  // The last event stands alone where it is read.
  const Trace trace = Imported(TraceText(
      {Kernel("k", "10", "5", 1),
       R"({"bp": "e", "cat": "ac2g", "id": 1, "name": "ac2g", "ph": "f", "pid": 0, "tid": 7,)"
       R"( "ts": 10})"}));
  CHECK(trace.ops.size() == 1);
  CHECK(Reported(trace, "not valid JSON") == 0);
}

TEST_CASE("compact texts recover, too") {
  std::string text = "{\"traceEvents\":[";
  for (int i = 0; i < 6; ++i) {
    text += (i > 0 ? "," : "") + std::string("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"") +
            (i == 3 ? "a\"b" : "k") + "\",\"pid\":0,\"tid\":7,\"ts\":" + std::to_string(i) +
            ",\"dur\":1}";
  }
  const Trace trace = Imported(text + "]}");
  CHECK(trace.ops.size() == 5);
  CHECK(Reported(trace, "not valid JSON") == 1);
}

TEST_CASE("stray bytes in a name are replaced, not fatal") {
  std::vector<std::string> events = Kernels(2);
  events.push_back(Event("cpu_op",
                         "a\x01"
                         "b\xff",
                         17, 17, "1", "1"));
  const Trace trace = Imported(TraceText(events));
  CHECK(trace.ops.size() == 2);
  REQUIRE(trace.operators.size() == 1);
  CHECK(trace.strings[trace.operators.name[0]] == "a?b?");
  CHECK(Reported(trace, "stray bytes") == 1);
}

TEST_CASE("numbers that are none cost only the event that needs them") {
  const Trace trace = Imported(TraceText({
      Kernel("a", "1", "NaN", 1),
      Kernel("b", "Infinity", "1", 2),
      Kernel("c", "20", "-3", 3),
      Kernel("d", "30", "18446744073709.0", 4),
      Kernel("e", "40", "5", 5, 0, 7,
             ", \"memory bandwidth (GB/s)\": inf, \"est. achieved occupancy %\": NaN"),
  }));
  REQUIRE(trace.ops.size() == 1);
  CHECK(trace.ops.start[0] == 40000);
  CHECK(Reported(trace, "without a usable time") == 2);
  CHECK(Reported(trace, "end before they start") == 1);
  CHECK(Reported(trace, "more than a week") == 1);
}

TEST_CASE("trailing commas, blanks and byte order marks change nothing") {
  CHECK(Imported("\xef\xbb\xbf" + TraceText(Kernels(2))).ops.size() == 2);
  std::string text = TraceText(Kernels(2));
  text.replace(text.find("\n  ]"), 4, ",\n\n  ,]");
  CHECK(Imported(text).ops.size() == 2);
  CHECK(Imported("\n\n [" + Kernels(1)[0] + "]").ops.size() == 1);
}

TEST_CASE("what lies behind the events is read, objects and arrays in it are no events") {
  const Trace trace =
      Imported(TraceText(Kernels(3), "  \"before\": [{\"ph\": \"X\"}, {\"ph\": \"X\"}],\n",
                         ",\n  \"distributedInfo\": {\"rank\": 2, \"pg_config\": [{\"pg_name\": "
                         "\"0\", \"ranks\": [1, 2]},\n {\"pg_name\": \"1\"}]}"));
  CHECK(trace.ops.size() == 3);
  CHECK(trace.rank == 2);
  CHECK(trace.diagnostics.list().empty());
}

TEST_CASE("files larger than the window give every event once, also with nested lists of objects") {
  std::vector<std::string> events;
  constexpr int kCount = 12000;  // about 5 MiB
  for (int i = 0; i < kCount; ++i) {
    events.push_back(Kernel(
        "kernel number " + std::to_string(i % 50), std::to_string(10 * i), "5", i + 1, 0, 7,
        ", \"nested\": [{\"a\": {\"b\": 1}}, {\"a\": [1, {\"c\": 2}]}], \"text\": \"},{\\\"\""));
  }
  const std::string text = TraceText(events, "", ",\n  \"tail\": [{\"x\": 1}, {\"y\": 2}]");
  REQUIRE(text.size() > (4u << 20));
  const Trace trace = Imported(text);
  REQUIRE(trace.ops.size() == kCount);
  CHECK(trace.shapes.size() == 50);
  CHECK(trace.diagnostics.list().empty());
  bool ascending = true;
  for (std::size_t i = 0; i < kCount; ++i) {
    ascending = ascending && trace.ops.start[i] == static_cast<Nanos>(i) * 10000;
  }
  CHECK(ascending);
}

TEST_CASE("an event larger than the window is read whole") {
  std::vector<std::string> events = Kernels(3);
  events[1] =
      Kernel("long", "10", "5", 2, 0, 7, ", \"padding\": \"" + std::string(3 << 20, 'x') + "\"");
  CHECK(Imported(TraceText(events)).ops.size() == 3);
}

TEST_CASE("a broken header does not cost the events") {
  const Trace trace = Imported(TraceText(Kernels(3), "  \"user\": \"a\"b\",\n"));
  CHECK(trace.ops.size() == 3);
  CHECK(Reported(trace, "not valid JSON") == 1);
}

TEST_CASE("files without usable events are refused in one line") {
  const auto error = [](const std::string& text) {
    const auto trace = ImportText(text);
    return trace ? std::string("read") : trace.error().what;
  };
  CHECK(error("{\"a\": 1}") == "a JSON file without trace events");
  CHECK(error("{\"traceEvents\": []}") == "the trace holds no events");
  CHECK(error("{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"toplevel\", \"name\": \"x\", \"ts\": "
              "1}]}") == "a Chrome trace that PyTorch's profiler did not write");
}

TEST_CASE("numbers are parsed digit by digit") {
  using kineto::ParseInt;
  using kineto::ParseMicroseconds;
  CHECK(ParseMicroseconds("9223372036854775807") == std::nullopt);
  CHECK(ParseMicroseconds("") == std::nullopt);
  CHECK(ParseMicroseconds("12a") == std::nullopt);
  CHECK(ParseMicroseconds("-") == std::nullopt);
  CHECK(ParseMicroseconds("nan") == std::nullopt);
  CHECK(ParseInt("12.0") == 12);
  CHECK(ParseInt("0x7f") == 127);
  CHECK(ParseInt("18446744073709551615") == -1);
  CHECK(ParseInt("abc") == std::nullopt);
}

}  // namespace
}  // namespace advise
