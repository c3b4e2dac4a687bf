// Nsight Compute: both CSV pages in their dialects, and its own report files.
#include <bit>

#include "tests/import/text_inputs.h"

using namespace advise;
using namespace advise::testing;

namespace {

const std::string kLongHeader =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel "
    "Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section "
    "Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule "
    "Description\",\"Estimated Speedup Type\",\"Estimated Speedup\"\n";

std::string LongRow(const std::string& id, const std::string& section, const std::string& metric,
                    const std::string& unit, const std::string& value) {
  return "\"" + id +
         "\",\"42\",\"app\",\"127.0.0.1\",\"void k<a, b>(int, \"\"x\"\")\",\"1\",\"7\"," +
         "\"(256, 1, 1)\",\"(1024, 2, 1)\",\"0\",\"7.5\",\"" + section + "\",\"" + metric +
         "\",\"" + unit + "\",\"" + value + "\",\n";
}

double Metric(const KernelCounters& counters, const char* id) {
  const auto found = counters.metrics.find(id);
  INFO(id);
  REQUIRE(found != counters.metrics.end());
  return found->second;
}

TEST_CASE("ncu details page: labels become ids, units base units, equal labels told by the unit") {
  const Trace trace = ImportedText(
      "==PROF== Connected to process 42\nepoch 1, loss \"0.5\"\n" + kLongHeader +
      LongRow("0", "GPU Speed Of Light Throughput", "Memory Throughput", "%", "61.84") +
      LongRow("0", "GPU Speed Of Light Throughput", "Duration", "us", "21,058.94") +
      "step 2 of the program\n" +
      LongRow("0", "GPU Speed Of Light Throughput", "SM Frequency", "Ghz", "1.41") +
      LongRow("0", "Memory Workload Analysis", "Memory Throughput", "Gbyte/s", "196.46") +
      LongRow("0", "Occupancy", "Achieved Occupancy", "%", "(!) n/a") +
      LongRow("0", "Launch Statistics", "Grid Size", "", "2,048") +
      LongRow("1", "GPU Speed Of Light Throughput", "Duration", "ms", "1.50") +
      "==PROF== Disconnected\n");
  CHECK(trace.kind == "ncu-csv");
  REQUIRE(trace.counters.size() == 2);
  const KernelCounters& first = trace.counters[0];
  CHECK(first.kernel == "void k<a, b>(int, \"x\")");
  CHECK(first.block == std::array<std::uint32_t, 3>{256, 1, 1});
  CHECK(first.grid == std::array<std::uint32_t, 3>{1024, 2, 1});
  CHECK(first.compute_capability == "7.5");
  CHECK(Metric(first, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed") == 61.84);
  CHECK(Metric(first, "dram__bytes.sum.per_second") == Approx(196.46e9));
  CHECK(Metric(first, "gpu__time_duration.sum") == Approx(21058940));
  CHECK(Metric(first, "gpc__cycles_elapsed.avg.per_second") == Approx(1.41e9));
  CHECK(Metric(first, "launch__grid_size") == 2048);
  CHECK_FALSE(first.metrics.contains("sm__warps_active.avg.pct_of_peak_sustained_active"));
  CHECK(Metric(trace.counters[1], "gpu__time_duration.sum") == Approx(1.5e6));
  CHECK(Said(trace, "lines of the program") == 2);
}

TEST_CASE("ncu details page: rule rows with and without an estimated speedup") {
  const std::string row =
      "\"0\",\"42\",\"app\",\"127.0.0.1\",\"k\",\"1\",\"7\",\"(1, 1, 1)\",\"(1, "
      "1, 1)\",\"0\",\"7.5\",\"SourceCounters\",\"\",\"\",\"\",";
  const Trace trace = ImportedText(
      kLongHeader + LongRow("0", "Occupancy", "Block Limit Warps", "block", "4") + row +
      "\"UncoalescedGlobalAccess\",\"OPT\",\"Excessive sectors, "
      "\"\"many\"\".\",\"global\",\"74.14\"\n" +
      row + "\"CPIStall\",\"INF\",\"A text.\",\"\",\"\"\n" + row +
      "\"HighPipeUtilization\",\"OPT\",\"Few warps.\",\"local\",\"98.86\"\n");
  REQUIRE(trace.counters.size() == 1);
  REQUIRE(trace.counters[0].advice.size() == 3);
  CHECK(trace.counters[0].advice[0].rule == "UncoalescedGlobalAccess");
  CHECK(trace.counters[0].advice[0].text == "Excessive sectors, \"many\".");
  CHECK(trace.counters[0].advice[0].speedup_percent == 74.14);
  CHECK(trace.counters[0].advice[1].speedup_percent == -1);
  CHECK(trace.counters[0].advice[2].speedup_percent == -1);  // of a metric, not of the kernel
}

TEST_CASE("ncu details page: a European locale is told from the column") {
  const Trace european =
      ImportedText(kLongHeader + LongRow("0", "s", "Duration", "ns", "1.234,50") +
                   LongRow("1", "s", "Duration", "ns", "2.345"));
  CHECK(Metric(european.counters[0], "gpu__time_duration.sum") == 1234.5);
  CHECK(Metric(european.counters[1], "gpu__time_duration.sum") == 2345);
  const Trace english = ImportedText(kLongHeader + LongRow("0", "s", "Duration", "ns", "1,234.50") +
                                     LongRow("1", "s", "Duration", "ns", "2.345"));
  CHECK(Metric(english.counters[0], "gpu__time_duration.sum") == 1234.5);
  CHECK(Metric(english.counters[1], "gpu__time_duration.sum") == 2.345);
}

TEST_CASE("ncu details page: a metric whose rows come in different units is one in base units") {
  const Trace trace = ImportedText(kLongHeader + LongRow("0", "s", "Duration", "us", "1.5") +
                                   LongRow("1", "s", "Duration", "ms", "2") +
                                   LongRow("2", "s", "Duration", "ns", "700"));
  REQUIRE(trace.counters.size() == 3);
  CHECK(Metric(trace.counters[0], "gpu__time_duration.sum") == 1500);
  CHECK(Metric(trace.counters[1], "gpu__time_duration.sum") == 2e6);
  CHECK(Metric(trace.counters[2], "gpu__time_duration.sum") == 700);
}

TEST_CASE("ncu of 2021: columns of ranges, metrics by id, no sizes") {
  const Trace trace = ImportedText(
      "==PROF== Target process 1 terminated before first instrumented API call.\n"
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"thread "
      "Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\",\"Id:Domain:Start/"
      "Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\",\"Kernel Name\",\"Kernel "
      "Time\",\"Context\",\"Stream\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric "
      "Value\"\n"
      "\"0\",\"6535\",\"python3.8\",\"127.0.0.1\",\"6535  \"\"<default domain>:aten::fill_\"\" "
      "\",\"\",\"fill(int, T2)\",\"2021-Nov-01 09:55:10\",\"1\",\"7\",\"Command line profiler "
      "metrics\",\"lts__t_sector_hit_rate.pct\",\"%\",\"44.55\"\n");
  REQUIRE(trace.counters.size() == 1);
  CHECK(trace.counters[0].kernel == "fill(int, T2)");
  CHECK(Metric(trace.counters[0], "lts__t_sector_hit_rate.pct") == 44.55);
}

TEST_CASE("ncu raw page: a column a metric, a row of units, several reports in one file") {
  const std::string header =
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel "
      "Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
      "\"device__attribute_display_name\",\"device__attribute_multiprocessor_count\",\"dram__bytes."
      "sum\",\"gpu__time_duration.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\","
      "\"\","
      "\"\",\"Mbyte\",\"usecond\"\n";
  const auto row = [](const std::string& name, const std::string& bytes) {
    return "\"0\",\"7\",\"app\",\"127.0.0.1\",\"" + name +
           "\",\"1\",\"7\",\"256,1,1\",\"1024,1,1\",\"0\",\"8.0\",\"NVIDIA "
           "A100-SXM4-80GB\",\"108\",\"" +
           bytes + "\",\"12.5\"\n";
  };
  const Trace trace = ImportedText(header + row("a", "1.5") + header + row("b", "3"));
  REQUIRE(trace.counters.size() == 2);  // ids start again
  CHECK(trace.counters[0].kernel == "a");
  CHECK(trace.counters[0].grid == std::array<std::uint32_t, 3>{1024, 1, 1});
  CHECK(trace.counters[0].device == "NVIDIA A100-SXM4-80GB");
  CHECK(Metric(trace.counters[0], "dram__bytes.sum") == 1.5e6);
  CHECK(Metric(trace.counters[1], "dram__bytes.sum") == 3e6);
  CHECK(Metric(trace.counters[0], "gpu__time_duration.sum") == 12500);
  REQUIRE(trace.devices.size() == 1);
  CHECK(trace.devices[0].name == "NVIDIA A100-SXM4-80GB");
  CHECK(trace.devices[0].sm_count == 108);
  CHECK(trace.devices[0].compute_major == 8);
}

TEST_CASE("ncu: rows that are cut short are counted, a name may hold a line break") {
  const Trace trace = ImportedText(
      kLongHeader + LongRow("0", "s", "Duration", "ns", "100") +
      "\"1\",\"42\",\"app\",\"127.0.0.1\",\"two\nlines\",\"1\",\"7\",\"(1, 1, 1)\",\"(1, 1, 1)\","
      "\"0\",\"7.5\",\"s\",\"Duration\",\"ns\",\"200\",\n\"2\",\"42\",\"app");
  REQUIRE(trace.counters.size() == 2);
  CHECK(trace.counters[1].kernel == "two\nlines");
  CHECK(Said(trace, "cut short") == 1);
}

TEST_CASE("ncu: other outputs of it and of its forerunner are named") {
  CHECK(Refused("==39378== NVPROF is profiling process 39378, command: python3 one.py\n"
                "\"Device\",\"Context\",\"Stream\",\"Kernel\"\n") ==
        "a log of nvprof without a table");
  CHECK(Refused("\"Device\",\"Context\",\"Stream\",\"Kernel\",\"Correlation_ID\"\n,,,,%\n") ==
        "the output of nvprof holds no counters");
  CHECK(Refused("==PROF== Connected to process 1\n  k (1, 1, 1)x(1, 1, 1), Context 1, Stream 7\n"
                "    Section: GPU Speed Of Light\n    ------ ----- -----\n") ==
        "the page of Nsight Compute holds no metrics");
  CHECK(Refused("==PROF== Connected to process 1\n==ERROR== LaunchFailed\n") ==
        "Nsight Compute wrote no counters: LaunchFailed");
  CHECK(Refused("\"#\",\"Address\",\"Source\"\n\"1\",\"0x0\",\"MOV\"\n") ==
        "the source page of Nsight Compute has no column of samples");
}

// ---- report files: written here byte by byte, as the format has them

std::string Varint(std::uint64_t value) {
  std::string bytes;
  while (value >= 128) {
    bytes += static_cast<char>(value | 128);
    value >>= 7;
  }
  return bytes + static_cast<char>(value);
}
std::string Whole(int id, std::uint64_t value) {
  return Varint(static_cast<std::uint64_t>(id) << 3) + Varint(value);
}
std::string Bytes(int id, const std::string& bytes) {
  return Varint(static_cast<std::uint64_t>(id) << 3 | 2) + Varint(bytes.size()) + bytes;
}
std::string Real(int id, double value) {
  std::string bytes = Varint(static_cast<std::uint64_t>(id) << 3 | 1);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(bits >> (8 * i));
  return bytes;
}
std::string Sized(const std::string& bytes) {
  std::string all;
  for (int i = 0; i < 4; ++i) all += static_cast<char>(bytes.size() >> (8 * i));
  return all + bytes;
}
std::string MetricOf(std::uint64_t name, const std::string& value) {
  return Bytes(13, Whole(1, name) + Bytes(2, value));
}

std::string Report() {
  const std::string names = Bytes(1, "gpu__time_duration.sum") + Bytes(1, "launch__grid_size") +
                            Bytes(1, "device__attribute_display_name");
  const auto result = [](const std::string& name, double duration) {
    return Sized(Whole(1, 4711) + Bytes(6, "k") + Bytes(7, name) +
                 Bytes(10, Whole(1, 64) + Whole(2, 2) + Whole(3, 1)) + Bytes(11, Whole(1, 512)) +
                 MetricOf(0, Real(3, duration)) + MetricOf(1, Whole(5, 128)) +
                 MetricOf(2, Bytes(1, "NVIDIA RTX A6000")) + MetricOf(9, Whole(5, 1)) +
                 Bytes(99, "what comes later") + Whole(98, 7));
  };
  const std::string first = Sized("an ELF image") + result("matmul(int)", 5737600);
  const std::string second = result("matmul(int)", 5e6);
  return std::string("NVR\0", 4) + Sized(Whole(1, 7)) +
         Sized(Whole(1, 1) + Whole(2, 1) + Bytes(4, names) + Whole(5, first.size())) + first +
         Sized(Whole(2, 1) + Whole(5, second.size())) + second;
}

TEST_CASE("ncu-rep: kernels, sizes, metrics of every kind, names that later blocks share") {
  const Trace trace = ImportedText(Report(), "any.name");
  CHECK(trace.kind == "ncu-rep");
  REQUIRE(trace.counters.size() == 2);
  const KernelCounters& first = trace.counters[0];
  CHECK(first.kernel == "matmul(int)");
  CHECK(first.grid == std::array<std::uint32_t, 3>{64, 2, 1});
  CHECK(first.block[0] == 512);
  CHECK(first.device == "NVIDIA RTX A6000");
  CHECK(Metric(first, "gpu__time_duration.sum") == 5737600);
  CHECK(Metric(first, "launch__grid_size") == 128);
  CHECK(Metric(trace.counters[1], "gpu__time_duration.sum") == 5e6);
  CHECK(Said(trace, "without a name") == 2);
}

TEST_CASE("ncu-rep: cut anywhere, what is complete is kept and the rest is said") {
  const std::string whole = Report();
  std::size_t kept = 0;
  for (std::size_t size = 8; size < whole.size(); size += 7) {
    const TempDir dir;
    std::ofstream(dir.File("cut"), std::ios::binary) << whole.substr(0, size);
    const Result<Trace> trace = ImportReport(dir.File("cut"), {});
    INFO(size);
    if (!trace) {
      CHECK(trace.error().what == "no kernel could be read from the Nsight Compute report");
      continue;
    }
    CHECK(trace->counters.size() == 1);
    kept += trace->counters.size();
    const bool at_end_of_block = Said(*trace, "cut short or damaged") == 0;
    CHECK_FALSE(at_end_of_block);
  }
  CHECK(kept > 0);
}

TEST_CASE("ncu-rep: without its first bytes it is refused in plain words") {
  CHECK(Refused(std::string("\x97\0\0\0rest", 8), "a.ncu-rep") ==
        "an Nsight Compute report whose first bytes are missing");
}

}  // namespace
