// The peaks of GPUs as they are shipped: complete, and in agreement with clocks, units and balance
// points. Figures printed with sparsity, in bits, or of both directions would not be.
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/knowledge/embedded.h"
#include "tests/knowledge/kb_text.h"

using namespace advise;

namespace {

const HardwareEntry& Entry(const Knowledge& knowledge, const std::string& id) {
  const HardwareEntry* entry = knowledge.FindHardware(id);
  INFO(id);
  REQUIRE(entry != nullptr);
  REQUIRE(entry->id == id);
  return *entry;
}

double Value(const HardwareEntry& entry, const char* fact) {
  const auto found = entry.facts.find(fact);
  return found == entry.facts.end() ? 0 : found->second.value;
}

// Operations a clock and SM (compute unit) by architecture: FP32 lanes times two, dense 16-bit
// tensor operations.
struct Rates {
  double fp32, tensor;
};
Rates RatesOf(const HardwareEntry& entry) {
  static const std::map<std::string, Rates> kRates = {
      {"volta", {128, 1024}}, {"turing", {128, 1024}}, {"hopper", {256, 4096}},
      {"cdna", {128, 1024}},  {"cdna2", {128, 1024}},  {"cdna3", {256, 2048}},
      {"cdna4", {256, 4096}}};
  const std::string& capability = entry.compute_capability;
  if (entry.architecture == "pascal") return {capability == "6.0" ? 128.0 : 256.0, 0};
  if (entry.architecture == "ampere") {
    if (capability == "8.0") return {128, 2048};
    return {256, capability == "8.7" ? 2048.0 : 1024.0};  // Jetson Orin has the larger tensor cores
  }
  // The boards for graphics have the tensor cores of Ada, with FP4 in addition.
  if (entry.architecture == "blackwell") {
    return {256, capability.starts_with("12.") ? 1024.0 : 8192.0};
  }
  if (entry.architecture == "ada") return {256, 1024};
  const auto found = kRates.find(entry.architecture);
  INFO(entry.id << " is " << entry.architecture);
  REQUIRE(found != kRates.end());
  return found->second;
}

// GeForce boards do half of the tensor operations where they add up in FP32.
bool IsHalved(const HardwareEntry& entry) {
  if (entry.id == "a10g" || entry.id == "l20" || entry.id == "l40") return true;
  return entry.id.starts_with("rtx-") && std::isdigit(static_cast<unsigned char>(entry.id[4])) != 0;
}

TEST_CASE("every GPU that must be known has all peaks that it can have, with kind and source") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  const std::set<std::string> without_tf32 = {"v100-sxm2", "v100-pcie", "v100-dgxs", "v100s-pcie",
                                              "mi250x",    "mi250",     "mi210"};
  for (const char* id :
       {"v100-sxm2",  "v100-pcie", "a100-40-pcie", "a100-40-sxm", "a100-80-pcie", "a100-80-sxm",
        "a30",        "a10",       "a40",          "l4",          "l40s",         "rtx-3090",
        "rtx-4090",   "h100-pcie", "h100-sxm",     "h100-nvl",    "h200",         "gh200",
        "b200",       "gb200",     "mi250x",       "mi300x",      "b300",         "v100-dgxs",
        "v100s-pcie", "mi250",     "mi210"}) {
    INFO(id);
    const HardwareEntry& entry = Entry(knowledge, id);
    std::vector<const char*> facts = {
        "sm_count",        "max_warps_per_sm",   "peak_fp64_flops",      "peak_fp32_flops",
        "peak_fp16_flops", "memory_bytes_per_s", "host_link_bytes_per_s"};
    if (entry.architecture != "volta") facts.push_back("peak_bf16_flops");
    if (without_tf32.count(id) == 0) facts.push_back("peak_tf32_flops");
    const std::set<std::string> with_fp8 = {"ada", "hopper", "blackwell", "cdna3"};
    if (with_fp8.count(entry.architecture) > 0) facts.push_back("peak_fp8_flops");
    for (const char* fact : facts) {
      INFO(fact);
      CHECK(Value(entry, fact) > 0);
    }
    for (const auto& [name, fact] : entry.facts) {
      INFO(name);
      CHECK_FALSE(fact.source.empty());
      CHECK((fact.kind == "spec" || fact.kind == "listed" || fact.kind == "measured" ||
             fact.kind == "assumed"));
    }
  }
}

TEST_CASE("the name shown of a GPU finds the same GPU, and names its maker") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  for (const HardwareEntry& entry : knowledge.hardware()) {
    INFO(entry.id << ": " << entry.DisplayName());
    REQUIRE(knowledge.FindHardware(entry.DisplayName()) != nullptr);
    CHECK(knowledge.FindHardware(entry.DisplayName())->id == entry.id);
  }
  CHECK(knowledge.FindHardware("mi300x")->DisplayName() == "AMD Instinct MI300X");
  CHECK(knowledge.FindHardware("h100-sxm")->DisplayName() == "NVIDIA H100 80GB HBM3");
}

TEST_CASE("FP32 peaks are lanes times two times SMs times clock") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  int checked = 0;
  for (const HardwareEntry& entry : knowledge.hardware()) {
    const double clock = Value(entry, "boost_clock_hz") * Value(entry, "sm_count");
    if (clock == 0) continue;
    INFO(entry.id);
    CHECK(Value(entry, "peak_fp32_flops") / clock == Approx(RatesOf(entry).fp32).epsilon(0.02));
    ++checked;
  }
  CHECK(checked > 20);
}

TEST_CASE(
    "tensor peaks are dense: operations a clock and SM, at the boost clock or a little below") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  for (const HardwareEntry& entry : knowledge.hardware()) {
    const double clock = Value(entry, "boost_clock_hz") * Value(entry, "sm_count");
    INFO(entry.id);
    if (entry.architecture == "pascal") CHECK(Value(entry, "peak_fp16_flops") == 0);
    if (clock == 0 || Value(entry, "peak_fp16_flops") == 0) continue;
    const double of_unit = RatesOf(entry).tensor * (IsHalved(entry) ? 0.5 : 1);
    const double part = Value(entry, "peak_fp16_flops") / clock / of_unit;
    // Hopper and Blackwell state their tensor peaks at a lower clock than the highest.
    const bool at_boost = entry.architecture != "hopper" && entry.architecture != "blackwell";
    CHECK(part <= 1.02);
    CHECK(part >= (at_boost ? 0.98 : 0.85));
    const double tf32 = Value(entry, "peak_tf32_flops");
    // TF32 does half of the 16-bit rate, FP8 twice.
    if (tf32 > 0) CHECK(Value(entry, "peak_fp16_flops") / tf32 == Approx(2).epsilon(0.02));
    const double fp8 = Value(entry, "peak_fp8_flops");
    if (fp8 > 0) CHECK(fp8 / Value(entry, "peak_fp16_flops") == Approx(2).epsilon(0.02));
    // FP4 does twice as many operations as FP8, or three times where the vendor says so.
    const double fp4 = Value(entry, "peak_fp4_flops");
    if (fp4 > 0 && fp8 > 0) CHECK((fp4 / fp8 > 1.9 && fp4 / fp8 < 4.1));
  }
}

TEST_CASE("balance points of FP16 tensor work are those of the source") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  const auto balance = [&](const char* id) {
    const HardwareEntry& entry = Entry(knowledge, id);
    return Value(entry, "peak_fp16_flops") / Value(entry, "memory_bytes_per_s");
  };
  CHECK(balance("a100-80-sxm") == Approx(153).epsilon(0.005));  // 312 TFLOP/s over 2039 GB/s
  CHECK(balance("h100-sxm") == Approx(296).epsilon(0.005));     // 990 TFLOP/s over 3350 GB/s
}

TEST_CASE("links are of one direction, and the host's link stays below its line rate") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  CHECK(Value(Entry(knowledge, "a100-80-sxm"), "nvlink_bytes_per_s") == 300e9);  // K-J1: 600 both
  CHECK(Value(Entry(knowledge, "h100-sxm"), "nvlink_bytes_per_s") == 450e9);
  CHECK(Value(Entry(knowledge, "v100-sxm2"), "nvlink_bytes_per_s") == 150e9);
  for (const HardwareEntry& entry : knowledge.hardware()) {
    INFO(entry.id);
    const double line = Value(entry, "pcie_bytes_per_s");
    if (line == 0) continue;
    CHECK((line == 15.75e9 || line == 31.5e9 || line == 63e9));
    // Where the host is reached over another link than PCIe it is faster.
    if (!entry.id.starts_with("gh200") && entry.id != "gb200") {
      CHECK(Value(entry, "host_link_bytes_per_s") < line);
    }
  }
}

TEST_CASE("virtual GPUs are found by the names that their drivers give them") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  const std::map<std::string, std::string> boards = {
      {"GRID A100-5C", "a100-40-pcie"},   {"NVIDIA A100-40C", "a100-40-pcie"},
      {"GRID A100X-40C", "a100-40-sxm"},  {"GRID A100D-20C", "a100-80-pcie"},
      {"GRID A100DX-80C", "a100-80-sxm"}, {"NVIDIA A800DX-80C", "a800-80-sxm"},
      {"NVIDIA H100-80C", "h100-pcie"},   {"NVIDIA H100XM-80C", "h100-sxm"},
      {"NVIDIA H100L-94C", "h100-nvl"},   {"NVIDIA H200X-141C", "h200"},
      {"NVIDIA H200-141C", "h200-nvl"},   {"NVIDIA H20-96C", "h20"},
      {"GRID V100DX-32C", "v100-sxm2"},   {"GRID T4-16Q", "t4"},
      {"NVIDIA A40-48Q", "a40"},          {"NVIDIA L40S-48C", "l40s"},
      {"NVIDIA A10-24Q", "a10"},          {"GRID P40-8Q", "p40"},
      {"NVIDIA A100X", "a100x"},          {"NVIDIA B100", "b100"}};
  for (const auto& [name, id] : boards) {
    INFO(name);
    REQUIRE(knowledge.FindHardware(name) != nullptr);
    CHECK(knowledge.FindHardware(name)->id == id);
  }
  // A part of the SMs (a MIG slice of a virtual machine): the whole GPU's peaks would be wrong.
  CHECK(knowledge.FindHardware("GRID A100-1-5C") == nullptr);
}

TEST_CASE("memory rates of one chip in two boards keep their distance") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  CHECK(Value(Entry(knowledge, "a100-40-sxm"), "memory_bytes_per_s") == 1555e9);
  CHECK(Value(Entry(knowledge, "a100-80-pcie"), "memory_bytes_per_s") == 1935e9);
  CHECK(Value(Entry(knowledge, "h200"), "memory_bytes_per_s") == 4800e9);
  CHECK(Value(Entry(knowledge, "mi250x"), "memory_bytes_per_s") ==
        Approx(3277e9 / 2).epsilon(0.01));
}

TEST_CASE("a MIG slice is a part of its GPU: by SMs what computes, by memory what moves") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  const HardwareEntry* slice = knowledge.FindHardware("NVIDIA A100-SXM4-40GB MIG 3g.20gb");
  REQUIRE(slice != nullptr);
  CHECK(slice->id == "a100-40-sxm-3g.20gb");
  CHECK(Value(*slice, "sm_count") == 42);
  CHECK(Value(*slice, "peak_bf16_flops") == Approx(312e12 * 42 / 108));
  CHECK(Value(*slice, "memory_bytes") == 20e9);
  CHECK(Value(*slice, "memory_bytes_per_s") == Approx(1555e9 / 2));
  CHECK(Value(*slice, "nvlink_bytes_per_s") == 0);
  CHECK(knowledge.FindHardware("NVIDIA A100-SXM4-40GB")->id == "a100-40-sxm");
  CHECK(knowledge.FindHardware("NVIDIA H100 80GB HBM3 MIG 1g.10gb")->id == "h100-sxm-1g.10gb");
}

TEST_CASE("names that drivers give are those of the GPU, and of no other") {
  const Knowledge knowledge = LoadKb(EmbeddedKnowledge());
  const auto id = [&](const char* name) -> std::string {
    const HardwareEntry* entry = knowledge.FindHardware(name);
    return entry == nullptr ? "" : entry->id;
  };
  CHECK(id("NVIDIA B300 SXM6 AC") == "b300");
  CHECK(id("NVIDIA GB300") != "b300");
  CHECK(id("Tesla V100-DGXS-32GB") == "v100-dgxs");
  CHECK(id("Tesla V100S-PCIE-32GB") == "v100s-pcie");
  CHECK(id("Tesla V100-PCIE-16GB") == "v100-pcie");
  CHECK(id("NVIDIA GeForce RTX 3060") == "rtx-3060");
  CHECK(id("NVIDIA GeForce RTX 3060 Laptop GPU") == "rtx-3060-laptop");
  CHECK(id("NVIDIA GeForce RTX 3080 Ti") == "rtx-3080-ti");
  CHECK(id("NVIDIA GeForce RTX 3080 Laptop GPU") == "rtx-3080-laptop");
  CHECK(id("NVIDIA GeForce RTX 3050 6GB Laptop GPU") == "rtx-3050-6gb-laptop");
  CHECK(id("NVIDIA GeForce RTX 3050 Ti Laptop GPU") == "rtx-3050-ti-laptop");
  CHECK(id("NVIDIA GeForce RTX 5070 Ti Laptop GPU") == "rtx-5070-ti-laptop");
  CHECK(id("NVIDIA GeForce GTX 1660 Ti") == "gtx-1660-ti");
  CHECK(id("NVIDIA GeForce RTX 2080 Laptop GPU").empty());
  CHECK(id("NVIDIA GeForce RTX 4070 Ti SUPER") == "rtx-4070-ti-super");
  CHECK(id("NVIDIA GeForce RTX 4070 Laptop GPU") == "rtx-4070-laptop");
  CHECK(id("NVIDIA GeForce RTX 2060 SUPER") == "rtx-2060-super");
  CHECK(id("NVIDIA GeForce RTX 5090") == "rtx-5090");
  CHECK(id("NVIDIA RTX PRO 6000 Blackwell Server Edition") == "rtx-pro-6000-server");
  CHECK(id("NVIDIA RTX PRO 6000 Blackwell Workstation Edition") == "rtx-pro-6000");
  CHECK(id("NVIDIA RTX 6000 Ada Generation") == "rtx6000-ada");
  CHECK(id("NVIDIA RTX 4000 SFF Ada Generation") == "rtx4000-sff-ada");
  CHECK(id("Quadro RTX 6000") == "quadro-rtx-6000");
  CHECK(id("Tesla P100-SXM2-16GB") == "p100-sxm2");
  CHECK(id("Tesla P40") == "p40");
  CHECK(id("NVIDIA A100-SXM-64GB") == "a100-64-sxm");
  CHECK(id("NVIDIA A10G") == "a10g");
  CHECK(id("NVIDIA L40") == "l40");
  CHECK(id("NVIDIA L40S") == "l40s");
  CHECK(id("NVIDIA H20") == "h20");
  CHECK(id("NVIDIA H200") == "h200");
  CHECK(id("NVIDIA H200 NVL") == "h200-nvl");
  CHECK(id("NVIDIA A16") == "a16");
  CHECK(id("NVIDIA RTX A400") == "rtx-a400");
  CHECK(id("NVIDIA RTX A4000") == "rtx-a4000");
  CHECK(id("NVIDIA RTX A1000") == "rtx-a1000");
  CHECK(id("NVIDIA RTX A1000 Laptop GPU").empty());
  CHECK(id("NVIDIA RTX PRO 2000 Blackwell") == "rtx-pro-2000");
  CHECK(id("NVIDIA GB300") == "gb300");
  CHECK(id("NVIDIA GB10") == "gb10");
  CHECK(id("NVIDIA GH200 144G HBM3e") == "gh200-144");
  CHECK(id("NVIDIA GH200 480GB") == "gh200");
  CHECK(id("NVIDIA Thor") == "jetson-thor");
  CHECK(id("Orin") == "jetson-agx-orin");
  CHECK(id("AMD Instinct MI355X") == "mi355x");
  CHECK(id("AMD Instinct MI100") == "mi100");
  CHECK(id("AMD Instinct MI300X VF") == "mi300x");
  // A driver's name that says nothing, as the importer adds to it.
  CHECK(id("AMD Radeon Graphics with 104 compute units and 64 GiB") == "mi250");
  CHECK(id("AMD GPU with 304 compute units and 192 GiB") == "mi300x");
  CHECK(id("AMD GPU with 304 compute units and 256 GiB") == "mi325x");
  CHECK(id("AMD Radeon Graphics with 96 compute units and 24 GiB").empty());
  CHECK(id("AMD Radeon Graphics").empty());
  CHECK(id("AMD INSTINCT MI250X / MI250") == "mi250x");
}

}  // namespace
