// What amd-smi and rocm-smi print, of several versions, as tables, CSV and lines.
#include <fmt/format.h>

#include "tests/import/text_inputs.h"

using namespace advise;
using namespace advise::testing;

namespace {

constexpr double kMega = 1048576;
constexpr double kGiga = 1024 * kMega;
using Readings = std::vector<double>;

TEST_CASE("amd-smi monitor: columns with units, every second, as ROCm 7 names them") {
  const Trace trace = ImportedText(
      "TIMESTAMP  GPU  XCP  POWER  PWR_CAP   GPU_T   MEM_T   GFX_CLK   GFX%   MEM%  MEM_CLOCK\n"
      "1786038263    0    0  723 W    750 W   71 °C   63 °C  1950 MHz   97 %   41 %   1300 MHz\n"
      "1786038263    1    0  142 W    750 W   40 °C   35 °C   132 MHz    0 %    0 %    900 MHz\n"
      "1786038265    0    0  731 W    750 W   72 °C   63 °C  1948 MHz   99 %   40 %   1300 MHz\n"
      "1786038265    1    0    N/A    750 W   40 °C   35 °C   132 MHz    0 %    0 %    900 MHz\n");
  CHECK(trace.kind == "amd-smi");
  CHECK(trace.producer == "amd-smi monitor");
  CHECK(trace.monitor.has_clock);
  REQUIRE(trace.monitor.gpus.size() == 2);
  CHECK(Values(trace, 0, "utilization") == Readings{0.97, 0.99});
  CHECK(Values(trace, 0, "power") == Readings{723, 731});
  CHECK(Values(trace, 1, "power") == Readings{142});
  CHECK(Values(trace, 0, "power_limit") == Readings{750, 750});
  CHECK(Values(trace, 0, "temperature") == Readings{71, 72});
  CHECK(Values(trace, 0, "memory_activity") == Readings{0.41, 0.4});
  CHECK(Values(trace, 0, "sm_clock") == Readings{1950e6, 1948e6});
  CHECK(trace.monitor.gpus[0].Find("power")->time_s == Readings{0, 2});
}

TEST_CASE("amd-smi monitor: memory in use beside its size, also where the size is short") {
  const Trace trace = ImportedText(
      "GPU  XCP  POWER   GPU_T   MEM_T   GFX_CLK   GFX%   MEM%   ENC%   DEC%      VRAM_USAGE\n"
      "  0    0  175 W   36 °C   33 °C   132 MHz    5 %    0 %    N/A    0 %    0.5/192.0 GB\n"
      "  1    0  175 W   36 °C   33 °C   132 MHz    0 %    0 %    N/A    0 %    0.3/ 64.0 GB\n");
  CHECK(Values(trace, 0, "memory_used") == Readings{0.5 * kGiga});
  CHECK(Values(trace, 0, "memory_total") == Readings{192 * kGiga});
  CHECK(Values(trace, 1, "memory_total") == Readings{64 * kGiga});
  CHECK_FALSE(trace.monitor.has_clock);
}

TEST_CASE("amd-smi monitor: the columns of ROCm 6, errors of memory and throttling") {
  const Trace trace = ImportedText(
      "GPU  POWER  GPU_TEMP  MEM_TEMP  GFX_UTIL  GFX_CLOCK  MEM_UTIL  MEM_CLOCK  ENC_UTIL  "
      "ENC_CLOCK  "
      "DEC_UTIL  DEC_CLOCK     THROTTLE  SINGLE_ECC  DOUBLE_ECC  PCIE_REPLAY  VRAM_USED  "
      "VRAM_TOTAL   "
      "PCIE_BW \n\n"
      "  0   11 W     43 °C     58 °C      84 %   1814 MHz       1 %     96 MHz       N/A    812 "
      "MHz  "
      "     N/A    512 MHz  UNTHROTTLED           0           2            0     227 MB    25476 "
      "MB  N/A "
      "Mb/s\n");
  CHECK(Values(trace, 0, "utilization") == Readings{0.84});
  CHECK(Values(trace, 0, "memory_clock") == Readings{96e6});
  CHECK(Values(trace, 0, "throttle_hardware") == Readings{0});
  CHECK(Values(trace, 0, "ecc_uncorrected") == Readings{2});
  CHECK(Values(trace, 0, "memory_used") == Readings{227 * kMega});
  CHECK(Values(trace, 0, "memory_total") == Readings{25476 * kMega});
}

TEST_CASE("amd-smi monitor as CSV: megabytes where memory was asked for, else gigabytes") {
  const Trace asked = ImportedText(
      "timestamp,gpu,power_usage,max_power,gfx_clk,gfx,vram_used,vram_free,vram_total,vram_"
      "percent\n"
      "1786038263,0,640,750,1900,88,14336,182256,196592,7.29\n"
      "1786038264,0,650,750,1900,90,14336,182256,196592,7.29\n");
  CHECK(Values(asked, 0, "memory_used") == Readings{14336 * kMega, 14336 * kMega});
  CHECK(Values(asked, 0, "utilization") == Readings{0.88, 0.9});
  CHECK(asked.monitor.has_clock);
  const Trace plain =
      ImportedText("gpu,xcp,power_usage,gfx,vram_used,vram_total\n0,0,640,88,14.0,192.0\n");
  CHECK(Values(plain, 0, "memory_used") == Readings{14 * kGiga});
  CHECK(Values(plain, 0, "memory_total") == Readings{192 * kGiga});
}

TEST_CASE("rocm-smi: the short table, before and since it names partitions, again and again") {
  const std::string old_table =
      "\n\n======================= ROCm System Management Interface =======================\n"
      "================================= Concise Info =================================\n"
      "GPU  Temp (DieEdge)  AvgPwr  SCLK    MCLK     Fan  Perf  PwrCap  VRAM%  GPU%  \n"
      "0    31.0c           43.0W   800Mhz  1600Mhz  0%   auto  300.0W    0%   0%    \n"
      "1    64.0c           253.0W  1700Mhz 1600Mhz  0%   auto  300.0W   87%   99%    \n"
      "================================================================================\n"
      "============================= End of ROCm SMI Log ==============================\n";
  const Trace old = ImportedText(old_table + "Sat Nov 28 18:15:38 UTC 2026\n" + old_table);
  CHECK(old.producer == "rocm-smi");
  REQUIRE(old.monitor.gpus.size() == 2);
  CHECK(Values(old, 1, "utilization") == Readings{0.99, 0.99});
  CHECK(Values(old, 1, "power") == Readings{253, 253});
  CHECK(Values(old, 1, "power_limit") == Readings{300, 300});
  CHECK(Values(old, 0, "sm_clock") == Readings{800e6, 800e6});

  const Trace now = ImportedText(
      "============================ ROCm System Management Interface ============================\n"
      "Device  Node  IDs              Temp        Power     Partitions          SCLK    MCLK    "
      "Fan  "
      "Perf  PwrCap  VRAM%  GPU%  \n"
      "              (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)                     "
      "\n"
      "=======================================================================================\n"
      "0       1     0x74a1,   58197  42.0°C      135.0W    NPS1, SPX, 0        122Mhz  900Mhz  0% "
      "  "
      "auto  750.0W  0%     3%    \n");
  CHECK(Values(now, 0, "temperature") == Readings{42});
  CHECK(Values(now, 0, "power") == Readings{135});
  CHECK(Values(now, 0, "utilization") == Readings{0.03});

  const Trace radeon = ImportedText(
      "Device  [Model : Revision]    Temp    Power  Partitions      SCLK   MCLK     Fan  Perf  "
      "PwrCap  "
      "VRAM%  GPU%  \n"
      "        Name (20 chars)       (Edge)  (Avg)  (Mem, Compute)                        \n"
      "0       [0x5200 : 0xc8]       46.0°C  72.0W  N/A, N/A        21Mhz  1249Mhz  0%   auto  "
      "291.0W   "
      " 4%   1%    \n"
      "        0x744c\n");
  CHECK(Values(radeon, 0, "power") == Readings{72});
  CHECK(Values(radeon, 0, "utilization") == Readings{0.01});
}

TEST_CASE("rocm-smi as CSV and as lines: names with units, cards, the product") {
  const Trace csv = ImportedText(
      "WARNING: AMD GPU device(s) is/are in a low-power state. Check power "
      "control/runtime_status\n\n"
      "device,Temperature (Sensor edge) (C),Temperature (Sensor junction) (C),Average Graphics "
      "Package "
      "Power (W),GPU use (%),VRAM Total Memory (B),VRAM Total Used Memory (B),sclk clock "
      "speed:,Card "
      "Series\n"
      "card0,45.0,61.0,812.0,82,309237645312,152471339008,(2100Mhz),AMD Instinct MI355X\n"
      "card1,44.0,60.0,798.0,N/A,309237645312,149250113536,(2095Mhz),AMD Instinct MI355X\n");
  CHECK(csv.producer == "rocm-smi");
  REQUIRE(csv.monitor.gpus.size() == 2);
  CHECK(csv.monitor.gpus[0].label == "0");
  CHECK(csv.monitor.gpus[0].name == "AMD Instinct MI355X");
  CHECK(Values(csv, 0, "temperature") == Readings{61});
  CHECK(Values(csv, 0, "sm_clock") == Readings{2100e6});
  CHECK(Values(csv, 0, "memory_used") == Readings{152471339008});
  CHECK(csv.monitor.gpus[1].Find("utilization") == nullptr);

  const std::string lines =
      "GPU[0]\t\t: Card Series: \t\tAMD Instinct MI210\n"
      "GPU[0]\t\t: GPU use (%): 25\n"
      "GPU[0]\t\t: sclk clock level: 1: (800Mhz)\n"
      "GPU[0]\t\t: Supported GPU clock frequencies on GPU0\n"
      "GPU[1]\t\t: GPU use (%): 0\n";
  const Trace said = ImportedText(lines + lines);
  REQUIRE(said.monitor.gpus.size() == 2);
  CHECK(said.monitor.gpus[0].name == "AMD Instinct MI210");
  CHECK(Values(said, 0, "utilization") == Readings{0.25, 0.25});
  CHECK(Values(said, 0, "sm_clock") == Readings{800e6, 800e6});
}

TEST_CASE("amd-smi: tables of processes and rows that were cut are no samples") {
  const Trace trace = ImportedText(
      "GPU  POWER  GPU_TEMP  GFX_UTIL\n"
      "  0  126 W     40 °C       1 %\n"
      "  1  126 W     40\n"
      "PROCESS INFO:\n"
      "GPU               NAME      PID   GTT_MEM\n"
      "  0             python     4242    2.0 MB\n");
  CHECK(trace.monitor.gpus.size() == 1);
  CHECK(Values(trace, 0, "power") == Readings{126});
  CHECK(Said(trace, "another number of cells") == 1);
  CHECK(Refused("timestamp,gpu,power,temp,mem\n1786038263,0,300,60,40960\n") ==
        "a table in an unknown format (columns timestamp, gpu, power, temp, …)");
  CHECK(Refused("GPU  POWER  GPU_TEMP  GFX_UTIL\n") ==
        "the log of amd-smi or rocm-smi holds no samples");
}

TEST_CASE("rocm-smi as JSON: an object of cards a line, values as texts or numbers") {
  const std::string warning = "WARNING: AMD GPU device(s) is/are in a low-power state.\n";
  const std::string one =
      R"-({"card0": {"Temperature (Sensor edge) (C)": "45.0", "GPU use (%)": "82",
  "Temperature (Sensor junction) (C)": "61.0", "VRAM Total Memory (B)": "309237645312",
  "sclk clock speed:": "(2100Mhz)", "Card Series": "AMD Instinct MI355X"},
 "card1": {"GPU use (%)": 7, "Average Graphics Package Power (W)": "N/A"},
 "system": {"Driver version": "6.12"}})-";
  const Trace trace = ImportedText(warning + one + "\n\n" + warning + one + "\n");
  CHECK(trace.kind == "amd-smi");
  CHECK(trace.producer == "rocm-smi");
  REQUIRE(trace.monitor.gpus.size() == 2);
  CHECK(trace.monitor.gpus[0].name == "AMD Instinct MI355X");
  CHECK(Values(trace, 0, "utilization") == Readings{0.82, 0.82});
  CHECK(Values(trace, 0, "temperature") == Readings{61, 61});
  CHECK(Values(trace, 0, "sm_clock") == Readings{2100e6, 2100e6});
  CHECK(Values(trace, 0, "memory_total") == Readings{309237645312, 309237645312});
  CHECK(Values(trace, 1, "utilization") == Readings{0.07, 0.07});
  CHECK(trace.monitor.gpus[1].Find("power") == nullptr);
  CHECK_FALSE(trace.monitor.has_clock);
}

TEST_CASE("amd-smi monitor as JSON: a list of GPUs each time, with its clock") {
  const auto sample = [](int second, int used) {
    return fmt::format(
        R"([{{"timestamp": {0}, "gpu": 0, "xcp": 0, "power_usage": {{"value": 723, "unit": "W"}},
  "hotspot_temperature": {{"value": 71, "unit": "C"}}, "gfx_clk": {{"value": 1950, "unit": "MHz"}},
  "gfx": {{"value": {1}, "unit": "%"}}, "mem": {{"value": 41, "unit": "%"}},
  "vram_used": {{"value": 0.5, "unit": "GB"}}, "pcie_bw": {{"value": 90, "unit": "Mb/s"}}}},
 {{"timestamp": {0}, "gpu": 1, "power_usage": "N/A", "gfx": {{"value": 0, "unit": "%"}},
  "mem": "N/A", "process_list": [{{"name": "train", "usage": {{"gfx": {{"value": 3}}}}}}]}}])",
        second, used);
  };
  const Trace trace = ImportedText("'CTRL' + 'C' to stop watching output:\n" +
                                   sample(1786038263, 97) + "\n" + sample(1786038265, 99));
  CHECK(trace.producer == "amd-smi");
  CHECK(trace.monitor.has_clock);
  REQUIRE(trace.monitor.gpus.size() == 2);
  CHECK(Values(trace, 0, "utilization") == Readings{0.97, 0.99});
  CHECK(trace.monitor.gpus[0].Find("utilization")->time_s == Readings{0, 2});
  CHECK(Values(trace, 0, "power") == Readings{723, 723});
  CHECK(Values(trace, 0, "sm_clock") == Readings{1950e6, 1950e6});
  CHECK(Values(trace, 0, "memory_used") == Readings{0.5 * kGiga, 0.5 * kGiga});
  CHECK(Values(trace, 1, "utilization") == Readings{0, 0});
  CHECK(trace.monitor.gpus[1].Find("power") == nullptr);
}

TEST_CASE("amd-smi metric as JSON: groups of values, of newer versions under gpu_data") {
  const std::string gpu =
      R"-({"gpu": 0, "usage": {"gfx_activity": {"value": 100, "unit": "%"},
  "umc_activity": {"value": 3, "unit": "%"}, "vcn_activity": ["N/A", "N/A"]},
 "power": {"socket_power": {"value": 239, "unit": "W"}, "gfx_voltage": "N/A"},
 "clock": {"gfx_0": {"clk": {"value": 132, "unit": "MHz"},
                     "max_clk": {"value": 2100, "unit": "MHz"}},
  "gfx_1": {"clk": "N/A"}, "mem_0": {"clk": {"value": 900, "unit": "MHz"}}},
 "temperature": {"edge": "N/A", "hotspot": {"value": 36, "unit": "C"}},
 "ecc": {"total_uncorrectable_count": 2}, "pcie": {"replay_count": "N/A"},
 "mem_usage": {"total_vram": {"value": 294896, "unit": "MB"},
               "used_vram": {"value": 283, "unit": "MB"}},
 "throttle": {"ppt_violation_activity": {"value": 25, "unit": "%"}, "accumulation_counter": 9}})-";
  for (const std::string& text : {"[" + gpu + "]\n", "{\"gpu_data\": [" + gpu + "]}"}) {
    const Trace trace = ImportedText(text);
    REQUIRE(trace.monitor.gpus.size() == 1);
    CHECK(Values(trace, 0, "utilization") == Readings{1});
    CHECK(Values(trace, 0, "memory_activity") == Readings{0.03});
    CHECK(Values(trace, 0, "power") == Readings{239});
    CHECK(Values(trace, 0, "sm_clock") == Readings{132e6});
    CHECK(Values(trace, 0, "memory_clock") == Readings{900e6});
    CHECK(Values(trace, 0, "temperature") == Readings{36});
    CHECK(Values(trace, 0, "ecc_uncorrected") == Readings{2});
    CHECK(Values(trace, 0, "memory_total") == Readings{294896 * kMega});
    CHECK(Values(trace, 0, "throttle_power") == Readings{0.25});
  }
}

TEST_CASE("JSON of AMD's monitors that is cut off is read as far as it goes, or refused") {
  const std::string whole = R"-({"card0": {"GPU use (%)": "82"}})-";
  const Trace trace = ImportedText(whole + "\n" + whole.substr(0, 20));
  CHECK(Values(trace, 0, "utilization") == Readings{0.82});
  CHECK(Said(trace, "cut off") == 1);
  CHECK(Refused(whole.substr(0, 29)) == "the JSON of amd-smi or rocm-smi holds no samples");
}

}  // namespace
