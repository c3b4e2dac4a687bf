// Monitor logs in all the shapes that tools, versions and scripts give them.
#include "tests/import/text_inputs.h"

using namespace advise;
using namespace advise::testing;

namespace {

TEST_CASE("nvidia-smi csv: units, two GPUs, the clock of the first sample") {
  const Trace trace = ImportedText(
      "timestamp, index, name, utilization.gpu [%], memory.used [MiB], power.draw [W], "
      "clocks.current.sm [MHz]\n"
      "2024/11/20 10:15:02.500, 0, NVIDIA H100 80GB HBM3, 45 %, 1234 MiB, 71.23 W, 1410 MHz\n"
      "2024/11/20 10:15:02.500, 1, NVIDIA H100 80GB HBM3, 5 %, 10 MiB, 60.00 W, 345 MHz\n"
      "2024/11/20 10:15:03.750, 0, NVIDIA H100 80GB HBM3, 100 %, 2000 MiB, 500.00 W, 1980 MHz\n");
  CHECK(trace.kind == "smi-csv");
  CHECK_FALSE(trace.HasTimeline());
  REQUIRE(trace.monitor.gpus.size() == 2);
  CHECK(trace.monitor.has_clock);
  CHECK(trace.monitor.gpus[0].name == "NVIDIA H100 80GB HBM3");
  CHECK(Values(trace, 0, "utilization") == Numbers{0.45, 1});
  CHECK(Values(trace, 1, "utilization") == Numbers{0.05});
  CHECK(Values(trace, 0, "memory_used") == Numbers{1234 * kMiB, 2000 * kMiB});
  CHECK(Values(trace, 0, "power") == Numbers{71.23, 500});
  CHECK(Values(trace, 0, "sm_clock") == Numbers{1410e6, 1980e6});
  const auto& time = trace.monitor.gpus[0].series.front().time_s;
  CHECK(time[0] == 0);
  CHECK(time[1] == Approx(1.25));
}

TEST_CASE("nvidia-smi csv: nounits keeps the unit in the header, or nowhere") {
  const Trace with = ImportedText("index, utilization.gpu [%], memory.used [MiB]\n0, 30, 512\n");
  CHECK(Values(with, 0, "utilization") == Numbers{0.3});
  CHECK(Values(with, 0, "memory_used") == Numbers{512 * kMiB});
  // A header that a script wrote, without blanks, and a time zone.
  const Trace without = ImportedText(
      "timestamp,gpu,index,memory.used,memory.total,power.draw,temperature.gpu\n"
      "2025-09-08T17:26:50+08:00,0, 0, 4, 81559, 74.01, 33\n"
      "2025-09-08T17:26:55+08:00,0, 0, 8, 81559, 80.5, 34\n");
  CHECK(Values(without, 0, "memory_used") == Numbers{4 * kMiB, 8 * kMiB});
  CHECK(Values(without, 0, "memory_total") == Numbers{81559 * kMiB, 81559 * kMiB});
  CHECK(Values(without, 0, "power") == Numbers{74.01, 80.5});
  CHECK(without.monitor.gpus[0].series.front().time_s == Numbers{0, 5});
  // The script asked one GPU after the other, each of which calls itself 0.
  const Trace looped = ImportedText(
      "timestamp,gpu,index,memory.used\n2025-09-08T17:26:50+08:00,0, 0, 4\n"
      "2025-09-08T17:26:50+08:00,1, 0, 8\n");
  REQUIRE(looped.monitor.gpus.size() == 2);
  CHECK(Values(looped, 1, "memory_used") == Numbers{8 * kMiB});
}

TEST_CASE("nvidia-smi csv: what the driver does not know is missing, not zero") {
  const Trace trace = ImportedText(
      "index, utilization.gpu [%], power.draw [W]\n"
      "0, [N/A], 10 W\n0, 40 %, [Not Supported]\n0, ERR!, [Unknown Error]\n0, 60 %, 12 W\n");
  CHECK(Values(trace, 0, "utilization") == Numbers{0.4, 0.6});
  CHECK(Values(trace, 0, "power") == Numbers{10, 12});
  CHECK(Said(trace, "values that the driver did not give") == 4);
}

TEST_CASE("nvidia-smi csv: runs appended to one file, cut rows, CRLF, UTF-16") {
  const std::string text =
      "index, utilization.gpu [%]\r\n0, 10 %\r\nindex, utilization.gpu [%]\r\n0, 20 %\r\n0\r\n"
      "0, many\r\n";
  const Trace trace = ImportedText(text);
  CHECK(Values(trace, 0, "utilization") == Numbers{0.1, 0.2});
  CHECK(Said(trace, "another number of cells") == 1);
  CHECK(Said(trace, "cells without a number") == 1);
  std::string wide = "\xFF\xFE";
  for (const char c : text) wide += std::string{c, '\0'};
  CHECK(Values(ImportedText(wide), 0, "utilization") == Numbers{0.1, 0.2});
}

TEST_CASE("nvidia-smi csv: a row whose time is cut has no place among the others") {
  const Trace trace = ImportedText(
      "timestamp, index, utilization.gpu [%], power.draw [W]\n"
      "025/03/21 02:06:50.642, 0, 90 %, [N/A]\n2025/03/21 02:06:51.642, 0, 10 %, 20 W\n"
      "2025/03/21 02:06:52.642, 0, 20 %, 30 W\n");
  CHECK(Values(trace, 0, "utilization") == Numbers{0.1, 0.2});
  CHECK(trace.monitor.gpus[0].series[0].time_s == Numbers{0, 1});
  CHECK(Said(trace, "rows whose time cannot be read") == 1);
  const Trace unclocked = ImportedText("index, utilization.gpu [%]\n0, 10 %\n0, 30 %\n");
  CHECK(unclocked.monitor.gpus[0].series[0].time_s == Numbers{0, 1});
}

TEST_CASE("nvidia-smi csv: a second header may name other columns") {
  const Trace trace =
      ImportedText("index, utilization.gpu [%]\n0, 10 %\npower.draw [W], index\n33.5 W, 0\n");
  CHECK(Values(trace, 0, "utilization") == Numbers{0.1});
  CHECK(Values(trace, 0, "power") == Numbers{33.5});
}

TEST_CASE("nvidia-smi csv: reasons that hold clocks back, by name and by mask") {
  const Trace named = ImportedText(
      "index, clocks_throttle_reasons.sw_power_cap, clocks_throttle_reasons.hw_thermal_slowdown\n"
      "0, Active, Not Active\n0, Not Active, Active\n");
  CHECK(Values(named, 0, "throttle_power") == Numbers{1, 0});
  CHECK(Values(named, 0, "throttle_thermal") == Numbers{0, 1});
  const Trace mask = ImportedText(
      "index, clocks_event_reasons.active\n0, 0x0000000000000004\n0, 0x0000000000000061\n"
      "0, 0x0000000000000000\n0, 0x0000000000000008\n");
  CHECK(Values(mask, 0, "throttle_power") == Numbers{1, 0, 0, 0});
  CHECK(Values(mask, 0, "throttle_thermal") == Numbers{0, 1, 0, 0});
  CHECK(Values(mask, 0, "throttle_hardware") == Numbers{0, 0, 0, 1});
}

TEST_CASE("nvidia-smi csv: one column without any name of a GPU, its header before each row") {
  const Trace trace = ImportedText("utilization.gpu [%]\n85 %\nutilization.gpu [%]\n100 %\n");
  CHECK(Values(trace, 0, "utilization") == Numbers{0.85, 1});
  CHECK(Said(trace, "does not say which GPU") == 1);
  CHECK_FALSE(trace.monitor.has_clock);
}

TEST_CASE("nvidia-smi csv: a column whose rows come in different units, and one that fits none") {
  const Trace trace = ImportedText(
      "index, memory.used [MiB], clocks.sm [MHz], utilization.gpu [%]\n"
      "0, 512 MiB, 1410 MHz, 50 %\n0, 2 GiB, 1.41 GHz, 0.5\n0, 1048576 KiB, 1410, 20 W\n");
  CHECK(Values(trace, 0, "memory_used") == Numbers{512 * kMiB, 2048 * kMiB, 1024 * kMiB});
  CHECK(Values(trace, 0, "sm_clock") == Numbers{1.41e9, 1.41e9, 1.41e9});
  // The header's unit holds where a cell has none; watts are no utilization.
  CHECK(Values(trace, 0, "utilization") == Numbers{0.5, 0.005});
  CHECK(Said(trace, "cells without a number") == 1);
}

TEST_CASE("logs that cannot be read say what they are") {
  CHECK(Refused("Time,GPU_Usage\n1686584907.568956,0\n") ==
        "a table in an unknown format (columns Time, GPU_Usage)");
  CHECK(Refused("GPUId,TimeStampUs,Field,Values\n0,1718783836956328,power,71.20\n") ==
        "a table in an unknown format (columns GPUId, TimeStampUs, Field, Values)");
  CHECK(Refused("# gpu     pid   type     sm    mem    enc    dec   command\n"
                "# Idx       #    C/G      %      %      %      %   name\n") ==
        "the list of nvidia-smi names no process that computes");
  CHECK(Refused("index, utilization.gpu [%]\n") == "the log of nvidia-smi holds no samples");
}

TEST_CASE("dmon: columns by their names, units by theirs, headers that come again") {
  const Trace trace = ImportedText(
      "# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk\n"
      "# Idx      W      C      C      %      %      %      %    MHz    MHz\n"
      "    0    218     43      -     95     40      0      0  12481   2325\n"
      "    1     50     30      -      0      0      0      0    405    210\n"
      "# gpu     fb     sm    pwr  rxpci  txpci\n"
      "# Idx     MB      %      W   MB/s   MB/s\n"
      "    0   1000     85    200     12      3\n");
  CHECK(trace.kind == "dmon");
  REQUIRE(trace.monitor.gpus.size() == 2);
  CHECK(Values(trace, 0, "utilization") == Numbers{0.95, 0.85});
  CHECK(Values(trace, 0, "power") == Numbers{218, 200});
  CHECK(Values(trace, 0, "sm_clock") == Numbers{2325e6});
  CHECK(Values(trace, 0, "memory_used") == Numbers{1000 * kMiB});
  CHECK(Values(trace, 0, "pcie_rx") == Numbers{12e6});
  CHECK(Values(trace, 1, "utilization") == Numbers{0});
  CHECK(Said(trace, "did not give") == 0);  // a column that is not ours may be empty
}

TEST_CASE("dmon: with dates and times, over midnight, as csv") {
  const Trace dated = ImportedText(
      "#Date       Time        gpu     sm    pwr\n#YYYYMMDD   HH:MM:SS    Idx      %      W\n"
      " 20240501   23:59:59      0     50    100\n 20240502   00:00:01      0     70    110\n");
  CHECK(dated.monitor.has_clock);
  CHECK(dated.monitor.gpus[0].series.front().time_s == Numbers{0, 2});
  const Trace timed = ImportedText(
      "#Time        gpu     sm\n#HH:MM:SS    Idx      %\n 23:59:58      0     50\n"
      " 00:00:03      0     70\n");
  CHECK(timed.monitor.gpus[0].series.front().time_s == Numbers{0, 5});
  const Trace csv = ImportedText("#gpu, pwr, gtemp, sm\n#Idx, W, C, %\n0, 218, 43, 95\n");
  CHECK(Values(csv, 0, "utilization") == Numbers{0.95});
}

TEST_CASE("dmon: rows of another width are counted and skipped") {
  const Trace trace =
      ImportedText("# gpu    pwr     sm\n# Idx      W      %\n  0  10  20\n  0  10\n");
  CHECK(Values(trace, 0, "utilization") == Numbers{0.2});
  CHECK(Said(trace, "another number of cells") == 1);
}

TEST_CASE("dcgmi dmon: entities of two words, ratios, blanks that look like numbers") {
  const Trace trace = ImportedText(
      "#Entity   GRACT        SMACT        TENSO        POWER\nID                             W\n"
      "GPU 7     N/A          N/A          N/A          N/A\n"
      "GPU 0     0.980        0.310        0.020        300.5\n"
      "GPU-I 3   0.500        0.400        0.100        9223372036854775794\n"
      "#Entity   GRACT        SMACT        TENSO        POWER\nID                             W\n"
      "GPU 7     0.100        0.050        0.000        80\n");
  CHECK(trace.kind == "dcgm");
  REQUIRE(trace.monitor.gpus.size() == 3);
  CHECK(trace.monitor.gpus[0].label == "0");
  CHECK(trace.monitor.gpus[1].label == "7");
  CHECK(trace.monitor.gpus[2].label == "instance 3");
  CHECK(Values(trace, 0, "sm_active") == Numbers{0.31});
  CHECK(Values(trace, 1, "gr_active") == Numbers{0.1});
  CHECK(trace.monitor.gpus[2].Find("power") == nullptr);
  CHECK(Said(trace, "the driver did not give") == 5);
}

TEST_CASE("dcgm-exporter: labels, old and new names, counters are no levels") {
  const Trace trace = ImportedText(
      "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\", UUID=\"GPU-aa\",modelName=\"NVIDIA A100-SXM4-80GB\","
      "Hostname=\"n1\"} 97\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"GPU-bb\",modelName=\"NVIDIA A100-SXM4-80GB\"} 12\n"
      "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\",UUID=\"GPU-aa\"} 0.41\n"
      "DCGM_FI_PROF_SM_UTIL_RATIO{gpu=\"1\",UUID=\"GPU-bb\"} 0.25\n"
      "# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter\n"
      "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"0\"} 123456789\n"
      "DCGM_FI_DEV_FB_USED{gpu=\"0\"} 40000\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-aa\"} 99\n");
  CHECK(trace.kind == "dcgm");
  CHECK(trace.host == "n1");
  REQUIRE(trace.monitor.gpus.size() == 2);
  CHECK(trace.monitor.gpus[0].uuid == "GPU-aa");
  CHECK(trace.monitor.gpus[0].name == "NVIDIA A100-SXM4-80GB");
  CHECK(Values(trace, 0, "utilization") == Numbers{0.97, 0.99});
  CHECK(Values(trace, 0, "sm_active") == Numbers{0.41});
  CHECK(Values(trace, 1, "sm_active") == Numbers{0.25});
  CHECK(Values(trace, 0, "memory_used") == Numbers{40000 * kMiB});
}

TEST_CASE("dcgmi dmon: errors, links, and what holds the clocks back") {
  const Trace trace = ImportedText(
      "#Entity   GPUTL  XIDER  EDVTL  RRF  RRP  PCILW  PCIMW  DVCCTR  PVIOL     TVIOL\nID\n"
      "GPU 0     99     0      0      0    0    16     16     0       1000      0\n"
      "GPU 1     98     0      1      0    1    8      16     4       500       70\n"
      "GPU 0     99     0      0      0    0    16     16     0       1000      0\n"
      "GPU 1     98     94     1      0    1    8      16     104     900       70\n");
  REQUIRE(trace.monitor.gpus.size() == 2);
  CHECK(Values(trace, 1, "xid") == Numbers{0, 94});
  CHECK(Values(trace, 1, "ecc_uncorrected") == Numbers{1, 1});
  CHECK(Values(trace, 1, "remap_pending") == Numbers{1, 1});
  CHECK(Values(trace, 1, "pcie_lanes") == Numbers{8, 8});
  // Bits, and times that grow: 104 is heat (0x20, 0x40) and the board (0x8).
  CHECK(Values(trace, 1, "throttle_power") == Numbers{1, 1});
  CHECK(Values(trace, 1, "throttle_thermal") == Numbers{0, 1});
  CHECK(Values(trace, 1, "throttle_hardware") == Numbers{0, 1});
  CHECK(Values(trace, 0, "throttle_power") == Numbers{0, 0});
}

TEST_CASE("dcgm-exporter: counters of errors are read as they are, numbers of errors by label") {
  const std::string page =
      "# TYPE DCGM_FI_DEV_PCIE_REPLAY_COUNTER counter\n"
      "DCGM_FI_DEV_PCIE_REPLAY_COUNTER{gpu=\"0\"} 120\n"
      "# TYPE DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL counter\n"
      "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL{gpu=\"0\"} 2\n"
      "# TYPE DCGM_FI_DEV_THERMAL_VIOLATION counter\nDCGM_FI_DEV_THERMAL_VIOLATION{gpu=\"0\"} 5\n"
      "DCGM_EXP_XID_ERRORS_COUNT{gpu=\"0\",xid=\"79\",window_size_in_ms=\"300000\"} 1\n"
      "DCGM_EXP_XID_ERRORS_COUNT{gpu=\"0\",xid=\"31\",window_size_in_ms=\"300000\"} 0\n";
  const Trace trace = ImportedText(page);
  CHECK(Values(trace, 0, "pcie_replays") == Numbers{120});
  CHECK(Values(trace, 0, "nvlink_recoveries") == Numbers{2});
  CHECK(Values(trace, 0, "xid") == Numbers{79});
  CHECK(trace.monitor.gpus[0].Find("throttle_thermal") == nullptr);  // nothing to compare it with
  std::string later = page;
  const std::string heat = "THERMAL_VIOLATION{gpu=\"0\"} 5";
  later.replace(later.find(heat), heat.size(), "THERMAL_VIOLATION{gpu=\"0\"} 9");
  CHECK(Values(ImportedText(page + later), 0, "throttle_thermal") == Numbers{1});
}

TEST_CASE("nvidia-smi csv: a GPU that the driver lost is named, and its mark is no GPU") {
  const auto lost = [](const std::string& key) {
    std::string text = "timestamp, index, utilization.gpu [%], power.draw [W]\n";
    for (int s = 0; s < 6; ++s) {
      const std::string time = "2026/03/04 10:00:0" + std::to_string(s) + ".000, ";
      text += time + "0, 98 %, 600.00 W\n";
      text +=
          s < 4 ? time + "1, 97 %, 600.00 W\n" : time + key + ", [GPU is lost], [GPU is lost]\n";
    }
    return ImportedText(text);
  };
  for (const char* key : {"1", "[GPU is lost]"}) {
    const Trace trace = lost(key);
    REQUIRE(trace.monitor.gpus.size() == 2);
    CHECK(trace.monitor.gpus[0].lost_s < 0);
    CHECK(trace.monitor.gpus[1].lost_s == Approx(4));
    CHECK(Values(trace, 1, "utilization").size() == 4);
  }
  // One value that the driver does not know is no lost GPU.
  const Trace other = ImportedText(
      "index, utilization.gpu [%], power.draw [W]\n0, 40 %, [Unknown Error]\n0, 60 %, 12 W\n");
  CHECK(other.monitor.gpus[0].lost_s < 0);
}

TEST_CASE("nvidia-smi: the brake of the power supply is not the board's power limit") {
  const Trace named = ImportedText(
      "index, utilization.gpu [%], power.limit [W], power.default_limit [W], "
      "clocks_event_reasons.sw_power_cap, clocks_event_reasons.hw_power_brake_slowdown\n"
      "0, 99 %, 400.00 W, 700.00 W, Not Active, Active\n");
  CHECK(Values(named, 0, "throttle_power") == Numbers{0});
  CHECK(Values(named, 0, "throttle_brake") == Numbers{1});
  CHECK(Values(named, 0, "power_default") == Numbers{700});
  const Trace mask = ImportedText(
      "index, utilization.gpu [%], clocks_throttle_reasons.active\n0, 99 %, 0x0000000000000088\n");
  CHECK(Values(mask, 0, "throttle_power") == Numbers{0});
  CHECK(Values(mask, 0, "throttle_brake") == Numbers{1});
}

TEST_CASE("dmon: errors of memory and of the link, and traffic over it") {
  const Trace trace = ImportedText(
      "# gpu    pwr     sm  rxpci  txpci  sbecc  dbecc    pci\n"
      "# Idx      W      %   MB/s   MB/s   errs   errs   errs\n"
      "    0    310     72  24246    200      0      0      0\n"
      "    0    310     64  24430    200      0      1      3\n");
  CHECK(Values(trace, 0, "pcie_replays") == Numbers{0, 3});
  CHECK(Values(trace, 0, "ecc_uncorrected") == Numbers{0, 1});
  CHECK(Values(trace, 0, "pcie_rx") == Numbers{24246e6, 24430e6});
}

TEST_CASE("kernel log: one without any error is read, too") {
  const Trace trace = ImportedText(
      "[    9.112233] nvidia: module license 'NVIDIA' taints kernel.\n"
      "[   10.221144] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  550.54.15\n"
      "[  100.2] EXT4-fs (nvme0n1p1): mounted filesystem\n");
  CHECK(trace.kind == "kernel-log");
  CHECK(trace.monitor.kernel_log);
  CHECK(trace.monitor.errors.empty());
}

}  // namespace
