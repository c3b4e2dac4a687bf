// The table that nvidia-smi prints without options, as loops leave it in logs.
#include "tests/import/text_inputs.h"

using namespace advise;
using namespace advise::testing;

namespace {

using Samples = std::vector<double>;

// The table of drivers since 545, of two GPUs, and a process.
std::string TableNow(const std::string& clock, int watts, int mib, int percent) {
  const auto wide = [](int value) {
    return std::string(value < 100 ? " " : "") + std::to_string(value);
  };
  return "Thu Nov  8 " + clock +
         " 2024       \n"
         "+----------------------------------------------------------------------------------------"
         "-+\n"
         "| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4    "
         " |\n"
         "|-----------------------------------------+------------------------+---------------------"
         "-+\n"
         "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. "
         "ECC |\n"
         "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute "
         "M. |\n"
         "|                                         |                        |               MIG "
         "M. |\n"
         "|=========================================+========================+====================="
         "=|\n"
         "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:18:00.0 Off |                    "
         "0 |\n"
         "| N/A   42C    P0             " +
         wide(watts) + "W /  700W |   " + std::to_string(mib) + "MiB /  81559MiB |    " +
         wide(percent) +
         "%      Default |\n"
         "|                                         |                        |             "
         "Disabled |\n"
         "+-----------------------------------------+------------------------+---------------------"
         "-+\n"
         "|   1  NVIDIA GeForce RTX 5060 ...    Off |   00000000:3B:00.0 Off |                  "
         "N/A |\n"
         "| N/A   ERR!   P0              N/A / 300W |       0MiB /   8151MiB |      0%      "
         "Default |\n"
         "+-----------------------------------------+------------------------+---------------------"
         "-+\n"
         "+----------------------------------------------------------------------------------------"
         "-+\n"
         "| Processes:                                                                             "
         " |\n"
         "|    0   N/A  N/A      1234      C   python                                     60000MiB "
         "|\n"
         "+----------------------------------------------------------------------------------------"
         "-+\n";
}

TEST_CASE("nvidia-smi without options: two tables are a log of both GPUs") {
  const Trace trace =
      ImportedText(TableNow("10:00:01", 350, 60000, 98) + TableNow("10:00:03", 90, 60010, 4));
  CHECK(trace.kind == "smi-page");
  CHECK(trace.producer == "nvidia-smi");
  CHECK(trace.driver_version == "550.54.15");
  REQUIRE(trace.monitor.gpus.size() == 2);
  CHECK(trace.monitor.has_clock);
  CHECK(trace.monitor.gpus[0].name == "NVIDIA H100 80GB HBM3");
  CHECK(trace.monitor.gpus[1].name.empty());  // cut by the table
  CHECK(Values(trace, 0, "utilization") == Samples{0.98, 0.04});
  CHECK(Values(trace, 0, "power") == Samples{350, 90});
  CHECK(Values(trace, 0, "power_limit") == Samples{700, 700});
  CHECK(Values(trace, 0, "temperature") == Samples{42, 42});
  CHECK(Values(trace, 0, "memory_used") == Samples{60000 * 1048576.0, 60010 * 1048576.0});
  CHECK(Values(trace, 0, "ecc_uncorrected") == Samples{0, 0});
  CHECK(trace.monitor.gpus[0].Find("power")->time_s == Samples{0, 2});
  CHECK(Values(trace, 1, "power_limit") == Samples{300, 300});
  CHECK(trace.monitor.gpus[1].Find("power") == nullptr);
  CHECK(trace.monitor.gpus[1].Find("temperature") == nullptr);
}

TEST_CASE("nvidia-smi without options: the narrow table of older drivers, without a clock") {
  const std::string table =
      "+-----------------------------------------------------------------------------+\n"
      "| NVIDIA-SMI 384.90                 Driver Version: 384.90                    |\n"
      "|-------------------------------+----------------------+----------------------+\n"
      "| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
      "| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |\n"
      "|===============================+======================+======================|\n"
      "|   0  GeForce GTX 1080    Off  | 00000000:01:00.0  On |                  N/A |\n"
      "|  0%   38C    P8    13W / 200W |    384MiB /  8118MiB |      2%      Default |\n"
      "+-------------------------------+----------------------+----------------------+\n";
  const Trace trace = ImportedText(table + table + table);
  CHECK(trace.monitor.gpus[0].name == "GeForce GTX 1080");
  CHECK(Values(trace, 0, "utilization") == Samples{0.02, 0.02, 0.02});
  CHECK(Values(trace, 0, "temperature") == Samples{38, 38, 38});
  CHECK_FALSE(trace.monitor.has_clock);
  CHECK(Refused(table) == "a single output of nvidia-smi, not a log over time");
}

}  // namespace
