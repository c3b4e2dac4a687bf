// How each format is told and read: one pair of functions a format, listed in registry.cc.
//
// Told…      `head` holds the first bytes of the file; of formats that are text, as NormalText has
//            them.
// Read…      the trace but for its path and kind, which the registry sets.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/import/importer.h"

namespace advise {

// Nsight Systems' SQLite export, all versions since 2020. Told: any SQLite file; databases of other
// programs get an error that says so.
bool ToldNsysSqlite(std::string_view head, const std::string& path);
Result<Trace> ReadNsysSqlite(const std::string& path, const ImportOptions& options);

// Nsight Systems' own report (.nsys-rep, .qdrep), by way of `nsys export`.
bool ToldNsysReport(std::string_view head, const std::string& path);
Result<Trace> ReadNsysReport(const std::string& path, const ImportOptions& options);

// PyTorch profiler (Kineto) Chrome traces: JSON, plain or gzip, of all generations since 2020.
// Truncated and slightly broken files are read as far as they are whole.
bool ToldKineto(std::string_view head, const std::string& path);
Result<Trace> ReadKineto(const std::string& path, const ImportOptions& options);

// Nsight Compute's own report (.ncu-rep).
bool ToldNcuReport(std::string_view head, const std::string& path);
Result<Trace> ReadNcuReport(const std::string& path, const ImportOptions& options);

// The formats that are text: `text` is the whole file, as NormalText has it. What is wrong with the
// file as a whole is returned, and the trace is then not used.

// `ncu --csv`: the details page (a row a metric) and the raw page (a row a kernel).
bool ToldNcuCsv(std::string_view head);
std::optional<Error> ReadNcuCsv(std::string_view text, const std::string& path, Trace* trace);

// The page that `ncu` prints by default.
bool ToldNcuText(std::string_view head);
std::optional<Error> ReadNcuText(std::string_view text, const std::string& path, Trace* trace);

// `ncu --page source --csv`: samples by instruction or line.
bool ToldNcuSource(std::string_view head);
std::optional<Error> ReadNcuSource(std::string_view text, const std::string& path, Trace* trace);

// Counters of kernels as nvprof printed them, CSV.
bool ToldNvprofMetrics(std::string_view head);
std::optional<Error> ReadNvprofMetrics(std::string_view text, const std::string& path,
                                       Trace* trace);

// GPU work one by one: `nsys stats -r cuda_gpu_trace`, `nvprof --print-gpu-trace --csv`. These have
// a timeline, without the host.
bool ToldGpuTrace(std::string_view head);
std::optional<Error> ReadGpuTrace(std::string_view text, const std::string& path, Trace* trace);

// Totals by name: `nsys stats`, `nvprof`, as CSV or as printed, also several tables in one file.
bool ToldTotals(std::string_view head);
std::optional<Error> ReadTotals(std::string_view text, const std::string& path, Trace* trace);

// CPU samples as folded stacks, "main;train;load 421" (perf, py-spy).
bool ToldFoldedStacks(std::string_view head);
std::optional<Error> ReadFoldedStacks(std::string_view text, const std::string& path, Trace* trace);

// `torch.cuda.memory_summary()`.
bool ToldAllocatorPage(std::string_view head);
std::optional<Error> ReadAllocatorPage(std::string_view text, const std::string& path,
                                       Trace* trace);

// What vLLM and SGLang log, with other output in between, also NCCL's.
bool ToldServerLog(std::string_view head);
std::optional<Error> ReadServerLog(std::string_view text, const std::string& path, Trace* trace);

// The pages of metrics of vLLM and SGLang, as Prometheus reads them; one, or several behind one
// another.
bool ToldServerPage(std::string_view head);
std::optional<Error> ReadServerPage(std::string_view text, const std::string& path, Trace* trace);

// What TensorRT-LLM logs of each step, in words or as JSON.
bool ToldTrtLlmLog(std::string_view head);
std::optional<Error> ReadTrtLlmLog(std::string_view text, const std::string& path, Trace* trace);

// A log with NCCL's INFO lines, of one or of many ranks, with other output in between.
bool ToldNcclLog(std::string_view head);
std::optional<Error> ReadNcclLog(std::string_view text, const std::string& path, Trace* trace);

// The comma-separated log of `nvidia-smi --query-gpu`, with or without units, also when a script
// appended several runs or wrote the header itself.
bool ToldSmiCsv(std::string_view head);
std::optional<Error> ReadSmiCsv(std::string_view text, const std::string& path, Trace* trace);

// The pages of `nvidia-smi -q`, whole or of some sections.
bool ToldSmiPage(std::string_view head);
std::optional<Error> ReadSmiPage(std::string_view text, const std::string& path, Trace* trace);

// The table of `nvidia-smi dmon`, whatever columns it was asked for.
bool ToldDmon(std::string_view head);
std::optional<Error> ReadDmon(std::string_view text, const std::string& path, Trace* trace);

// What the kernel logs of errors of GPUs (Xid) and of programs that it ends for lack of memory.
bool ToldKernelLog(std::string_view head);
std::optional<Error> ReadKernelLog(std::string_view text, const std::string& path, Trace* trace);

// `dcgmi dmon` tables and the Prometheus text of dcgm-exporter.
bool ToldDcgm(std::string_view head);
std::optional<Error> ReadDcgm(std::string_view text, const std::string& path, Trace* trace);

// What topology tools print: `nvidia-smi topo -m` and `-p2p`, `ibstat`; several of them may stand
// in one file.
bool ToldTopology(std::string_view head);
std::optional<Error> ReadTopology(std::string_view text, const std::string& path, Trace* trace);

}  // namespace advise
