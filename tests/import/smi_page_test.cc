// Pages of `nvidia-smi -q` of drivers before and since the names of their sections changed.
#include "tests/import/text_inputs.h"

using namespace advise;
using namespace advise::testing;

namespace {

// Driver 418, a board of the Volta generation.
constexpr const char* kVolta =
    "\n==============NVSMI LOG==============\n\n"
    "Timestamp                           : Mon Nov  4 01:24:26 2019\n"
    "Driver Version                      : 418.67\n\n"
    "Attached GPUs                       : 1\n"
    "GPU 00000000:18:00.0\n"
    "    Product Name                    : Tesla V100-SXM2-32GB\n"
    "    GPU UUID                        : GPU-d7d12c0c-9406\n"
    "    PCI\n"
    "        GPU Link Info\n"
    "            PCIe Generation\n"
    "                Max                 : 3\n"
    "                Current             : 3\n"
    "            Link Width\n"
    "                Max                 : 16x\n"
    "                Current             : 8x\n"
    "    Clocks Throttle Reasons\n"
    "        Idle                        : Not Active\n"
    "        SW Power Cap                : Active\n"
    "        HW Slowdown                 : Not Active\n"
    "            HW Thermal Slowdown     : Not Active\n"
    "            HW Power Brake Slowdown : Not Active\n"
    "        SW Thermal Slowdown         : Not Active\n"
    "    FB Memory Usage\n"
    "        Total                       : 32480 MiB\n"
    "        Used                        : 11345 MiB\n"
    "    Utilization\n"
    "        Gpu                         : 97 %\n"
    "        Memory                      : 40 %\n"
    "    Ecc Mode\n"
    "        Current                     : Enabled\n"
    "    ECC Errors\n"
    "        Volatile\n"
    "            Single Bit\n"
    "                Device Memory       : 4\n"
    "                Total               : 4\n"
    "            Double Bit\n"
    "                Device Memory       : 2\n"
    "                Total               : 2\n"
    "        Aggregate\n"
    "            Double Bit\n"
    "                Total               : 9\n"
    "    Retired Pages\n"
    "        Single Bit ECC              : 0\n"
    "        Double Bit ECC              : 1\n"
    "        Pending                     : Yes\n"
    "    Temperature\n"
    "        GPU Current Temp            : 64 C\n"
    "    Power Readings\n"
    "        Power Draw                  : 290.33 W\n"
    "        Power Limit                 : 300.00 W\n"
    "        Enforced Power Limit        : 300.00 W\n"
    "    Clocks\n"
    "        Graphics                    : 1300 MHz\n"
    "        SM                          : 1305 MHz\n"
    "    Max Clocks\n"
    "        SM                          : 1530 MHz\n";

// Driver 550, two boards, the second one unsound.
std::string Hopper(const char* gpu, const char* dram, const char* pending, const char* generation) {
  return std::string("GPU ") + gpu +
         "\n"
         "    Product Name                                       : NVIDIA H100 80GB HBM3\n"
         "    PCI\n"
         "        GPU Link Info\n"
         "            PCIe Generation\n"
         "                Max                                    : 5\n"
         "                Current                                : " +
         generation +
         "\n"
         "                Device Current                         : 5\n"
         "                Host Max                               : 5\n"
         "            Link Width\n"
         "                Max                                    : 16x\n"
         "                Current                                : 16x\n"
         "        Tx Throughput                                  : 464 KB/s\n"
         "    Clocks Event Reasons\n"
         "        SW Power Cap                                   : Not Active\n"
         "        HW Slowdown                                    : Active\n"
         "            HW Thermal Slowdown                        : Active\n"
         "        SW Thermal Slowdown                            : Not Active\n"
         "    Clocks Event Reasons Counters\n"
         "        SW Power Capping                               : 85032867 us\n"
         "        HW Thermal Slowdown                            : 12 us\n"
         "    FB Memory Usage\n"
         "        Total                                          : 81559 MiB\n"
         "        Reserved                                       : 328 MiB\n"
         "        Used                                           : 2 MiB\n"
         "    Utilization\n"
         "        GPU                                            : 100 %\n"
         "        Memory                                         : 30 %\n"
         "    ECC Errors\n"
         "        Volatile\n"
         "            SRAM Correctable                           : 0\n"
         "            SRAM Uncorrectable Parity                  : 1\n"
         "            SRAM Uncorrectable SEC-DED                 : 0\n"
         "            DRAM Correctable                           : 177\n"
         "            DRAM Uncorrectable                         : " +
         dram +
         "\n"
         "        Aggregate\n"
         "            DRAM Uncorrectable                         : 50\n"
         "            SRAM Threshold Exceeded                    : No\n"
         "    Retired Pages\n"
         "        Single Bit ECC                                 : N/A\n"
         "        Pending Page Blacklist                         : N/A\n"
         "    Remapped Rows\n"
         "        Correctable Error                              : 1\n"
         "        Uncorrectable Error                            : 0\n"
         "        Pending                                        : " +
         pending +
         "\n"
         "        Remapping Failure Occurred                     : No\n"
         "        Bank Remap Availability Histogram\n"
         "            Max                                        : 639 bank(s)\n"
         "    GPU Power Readings\n"
         "        Average Power Draw                             : 650.10 W\n"
         "        Current Power Limit                            : 700.00 W\n"
         "    Clocks\n"
         "        SM                                             : 990 MHz\n"
         "    Max Clocks\n"
         "        SM                                             : 1980 MHz\n";
}

std::string HopperPage(const char* time) {
  return std::string("==============NVSMI LOG==============\n\nTimestamp : ") + time +
         "\nDriver Version : 550.54.15\nCUDA Version : 12.4\n\nAttached GPUs : 2\n" +
         Hopper("00000000:0A:00.0", "0", "No", "5") + "\n" +
         Hopper("00000000:18:00.0", "3", "Yes", "1");
}

TEST_CASE("nvidia-smi -q of an old driver: link, reasons, memory, errors by kind") {
  const Trace trace = ImportedText(kVolta);
  CHECK(trace.kind == "smi-page");
  CHECK(trace.driver_version == "418.67");
  REQUIRE(trace.monitor.gpus.size() == 1);
  const MonitoredGpu& gpu = trace.monitor.gpus[0];
  CHECK(gpu.label == "0");
  CHECK(gpu.name == "Tesla V100-SXM2-32GB");
  CHECK(gpu.uuid == "GPU-d7d12c0c-9406");
  CHECK(Values(trace, 0, "utilization") == Numbers{0.97});
  CHECK(Values(trace, 0, "pcie_lanes") == Numbers{8});
  CHECK(Values(trace, 0, "pcie_lanes_max") == Numbers{16});
  CHECK(Values(trace, 0, "pcie_generation") == Numbers{3});
  CHECK(Values(trace, 0, "throttle_power") == Numbers{1});
  CHECK(Values(trace, 0, "throttle_thermal") == Numbers{0});
  CHECK(Values(trace, 0, "memory_used") == Numbers{11345 * kMiB});
  CHECK(Values(trace, 0, "power_limit") == Numbers{300});
  CHECK(Values(trace, 0, "sm_clock") == Numbers{1305e6});
  CHECK(Values(trace, 0, "sm_clock_max") == Numbers{1530e6});
  CHECK(Values(trace, 0, "ecc_uncorrected") == Numbers{2});  // not the four, nor the nine
  CHECK(Values(trace, 0, "pages_pending") == Numbers{1});
  CHECK(gpu.Find("remap_pending") == nullptr);
}

TEST_CASE("nvidia-smi -q of a new driver: two boards, errors by place, rows, reasons of events") {
  const Trace trace = ImportedText(HopperPage("Fri Mar 13 09:30:05 2026"));
  REQUIRE(trace.monitor.gpus.size() == 2);
  CHECK(Values(trace, 0, "ecc_uncorrected") == Numbers{1});
  CHECK(Values(trace, 1, "ecc_uncorrected") == Numbers{4});
  CHECK(Values(trace, 0, "remap_pending") == Numbers{0});
  CHECK(Values(trace, 1, "remap_pending") == Numbers{1});
  CHECK(Values(trace, 1, "remap_failed") == Numbers{0});
  CHECK(Values(trace, 1, "pcie_generation") == Numbers{1});
  CHECK(Values(trace, 1, "pcie_generation_max") == Numbers{5});
  CHECK(Values(trace, 0, "throttle_thermal") == Numbers{1});
  CHECK(Values(trace, 0, "throttle_hardware") == Numbers{1});
  CHECK(Values(trace, 0, "utilization") == Numbers{1});
  CHECK(Values(trace, 0, "power") == Numbers{650.1});
  CHECK(trace.monitor.gpus[0].Find("pages_pending") == nullptr);  // N/A
}

TEST_CASE("nvidia-smi -q -l: pages are samples, a day apart where it says so") {
  const Trace trace = ImportedText(HopperPage("Fri Mar 13 23:59:55 2026") + "\n" +
                                   HopperPage("Sat Mar 14 00:00:05 2026"));
  REQUIRE(trace.monitor.gpus.size() == 2);
  CHECK(trace.monitor.has_clock);
  CHECK(Values(trace, 1, "ecc_uncorrected") == Numbers{4, 4});
  CHECK(trace.monitor.gpus[1].series.front().time_s == Numbers{0, 10});
}

TEST_CASE(
    "nvidia-smi -q -d: sections that were not asked for are missing, and no page is no page") {
  const Trace trace = ImportedText(
      "$ nvidia-smi -q -d ECC\n==============NVSMI LOG==============\n\nAttached GPUs : 1\n"
      "GPU 0000:00:1E.0\n    ECC Errors\n        Volatile\n            SRAM Uncorrectable : N/A\n"
      "            DRAM Uncorrectable : 0\n");
  CHECK(Values(trace, 0, "ecc_uncorrected") == Numbers{0});
  CHECK(trace.monitor.gpus[0].series.size() == 1);
  CHECK_FALSE(Refused("==============NVSMI LOG==============\n\nAttached GPUs : 0\n").empty());
  CHECK_FALSE(Refused("GPU 00000000:18:00.0\n    Product Name : x\n").empty());
}

TEST_CASE("nvidia-smi csv: errors, repairs and the generation of the link") {
  const Trace trace = ImportedText(
      "index, utilization.gpu [%], ecc.errors.uncorrected.volatile.total, remapped_rows.pending, "
      "remapped_rows.failure, pcie.link.gen.current, pcie.link.gen.max\n"
      "0, 99 %, 2, Yes, No, 1, 4\n0, 99 %, [N/A], No, No, 1, 4\n");
  CHECK(Values(trace, 0, "ecc_uncorrected") == Numbers{2});
  CHECK(Values(trace, 0, "remap_pending") == Numbers{1, 0});
  CHECK(Values(trace, 0, "remap_failed") == Numbers{0, 0});
  CHECK(Values(trace, 0, "pcie_generation") == Numbers{1, 1});
  CHECK(Values(trace, 0, "pcie_generation_max") == Numbers{4, 4});
}

}  // namespace
