// How each format is recognized and read: one pair of functions a format, listed in registry.cc.
//
// Sniff…     `head` holds the first bytes of the file; of formats that are text, as NormalText has
//            them.
// Read…      the trace but for its path and kind, which the registry sets.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/import/importer.h"

namespace advise {

// Nsight Systems' SQLite export, all versions since 2020. Recognizes any SQLite file; databases of
// other programs get an error that says so.
bool SniffNsysSqlite(std::string_view head, const std::string& path);
Result<Trace> ReadNsysSqlite(const std::string& path, const ImportOptions& options);

// Nsight Systems' own report (.nsys-rep, .qdrep), by way of `nsys export`.
bool SniffNsysReport(std::string_view head, const std::string& path);
Result<Trace> ReadNsysReport(const std::string& path, const ImportOptions& options);

// PyTorch profiler (Kineto) Chrome traces: JSON, plain or gzip, of all generations since 2020.
// Truncated and slightly broken files are read as far as they are whole.
bool SniffKineto(std::string_view head, const std::string& path);
Result<Trace> ReadKineto(const std::string& path, const ImportOptions& options);

// What rocprofv3 of AMD's ROCm writes as JSON, plain or gzip. Memory: the size of the JSON, at most
// 4 GB. Files that were cut off are read as far as they are whole.
bool SniffRocprof(std::string_view head, const std::string& path);
Result<Trace> ReadRocprof(const std::string& path, const ImportOptions& options);

// The databases that rocprofv3 writes by default (rocpd), of one process or merged.
bool SniffRocprofDatabase(std::string_view head, const std::string& path);
Result<Trace> ReadRocprofDatabase(const std::string& path, const ImportOptions& options);

// The Chrome trace that the profilers of JAX and TensorFlow write, plain or gzip. Memory: the size
// of the JSON, of a million events at most.
bool SniffJaxTrace(std::string_view head, const std::string& path);
Result<Trace> ReadJaxTrace(const std::string& path, const ImportOptions& options);

// Nsight Compute's own report (.ncu-rep).
bool SniffNcuReport(std::string_view head, const std::string& path);
Result<Trace> ReadNcuReport(const std::string& path, const ImportOptions& options);

// The formats that are text: `text` is the whole file, as NormalText has it. What is wrong with the
// file as a whole is returned, and the trace is then not used.

// `ncu --csv`: the details page (a row a metric) and the raw page (a row a kernel).
bool SniffNcuCsv(std::string_view head);
std::optional<Error> ReadNcuCsv(std::string_view text, const std::string& path, Trace* trace);

// The page that `ncu` prints by default.
bool SniffNcuText(std::string_view head);
std::optional<Error> ReadNcuText(std::string_view text, const std::string& path, Trace* trace);

// `ncu --page source --csv`: samples by instruction or line.
bool SniffNcuSource(std::string_view head);
std::optional<Error> ReadNcuSource(std::string_view text, const std::string& path, Trace* trace);

// Counters of kernels as nvprof printed them, CSV.
bool SniffNvprofMetrics(std::string_view head);
std::optional<Error> ReadNvprofMetrics(std::string_view text, const std::string& path,
                                       Trace* trace);

// GPU work one by one: `nsys stats -r cuda_gpu_trace`, `nvprof --print-gpu-trace --csv`. These have
// a timeline, without the host.
bool SniffGpuTrace(std::string_view head);
std::optional<Error> ReadGpuTrace(std::string_view text, const std::string& path, Trace* trace);

// Totals by name: `nsys stats`, `nvprof`, as CSV or as printed, also several tables in one file.
bool SniffTotals(std::string_view head);
std::optional<Error> ReadTotals(std::string_view text, const std::string& path, Trace* trace);

// The table of operators and kernels that PyTorch's profiler prints.
bool SniffOperatorTable(std::string_view head);
std::optional<Error> ReadOperatorTable(std::string_view text, const std::string& path,
                                       Trace* trace);

// CPU samples as folded stacks, "main;train;load 421" (perf, py-spy).
bool SniffFoldedStacks(std::string_view head);
std::optional<Error> ReadFoldedStacks(std::string_view text, const std::string& path, Trace* trace);

// `torch.cuda.memory_summary()`.
bool SniffAllocatorPage(std::string_view head);
std::optional<Error> ReadAllocatorPage(std::string_view text, const std::string& path,
                                       Trace* trace);

// What vLLM and SGLang log, with other output in between, also NCCL's.
bool SniffServerLog(std::string_view head);
std::optional<Error> ReadServerLog(std::string_view text, const std::string& path, Trace* trace);

// The pages of metrics of vLLM and SGLang, as Prometheus reads them; one, or several behind one
// another.
bool SniffServerPage(std::string_view head);
std::optional<Error> ReadServerPage(std::string_view text, const std::string& path, Trace* trace);

// What TensorRT-LLM logs of each step, in words or as JSON.
bool SniffTrtLlmLog(std::string_view head);
std::optional<Error> ReadTrtLlmLog(std::string_view text, const std::string& path, Trace* trace);

// A log with NCCL's INFO lines, of one or of many ranks, with other output in between.
bool SniffNcclLog(std::string_view head);
std::optional<Error> ReadNcclLog(std::string_view text, const std::string& path, Trace* trace);

// The comma-separated log of `nvidia-smi --query-gpu`, with or without units, also when a script
// appended several runs or wrote the header itself.
bool SniffProcessList(std::string_view head);
std::optional<Error> ReadProcessList(std::string_view text, const std::string& path, Trace* trace);
bool SniffSmiCsv(std::string_view head);
std::optional<Error> ReadSmiCsv(std::string_view text, const std::string& path, Trace* trace);

// The pages of `nvidia-smi -q`, whole or of some sections.
bool SniffSmiPage(std::string_view head);
std::optional<Error> ReadSmiPage(std::string_view text, const std::string& path, Trace* trace);

// The table that nvidia-smi prints without options, again and again (-l). One alone is no log.
bool SniffSmiTable(std::string_view head);
std::optional<Error> ReadSmiTable(std::string_view text, const std::string& path, Trace* trace);

// The table of `nvidia-smi dmon`, whatever columns it was asked for.
bool SniffDmon(std::string_view head);
std::optional<Error> ReadDmon(std::string_view text, const std::string& path, Trace* trace);

// What AMD's monitors print: `amd-smi monitor` as table or CSV, rocm-smi as table, CSV or lines.
bool SniffAmdSmi(std::string_view head);
std::optional<Error> ReadAmdSmi(std::string_view text, const std::string& path, Trace* trace);

// The same as JSON, and that of `amd-smi metric`.
bool SniffAmdSmiJson(std::string_view head);
std::optional<Error> ReadAmdSmiJson(std::string_view text, const std::string& path, Trace* trace);

// What the kernel logs of errors of GPUs (Xid) and of programs that it ends for lack of memory.
bool SniffKernelLog(std::string_view head);
std::optional<Error> ReadKernelLog(std::string_view text, const std::string& path, Trace* trace);

// `dcgmi dmon` tables and the Prometheus text of dcgm-exporter.
bool SniffDcgm(std::string_view head);
std::optional<Error> ReadDcgm(std::string_view text, const std::string& path, Trace* trace);

// What topology tools print: `nvidia-smi topo -m` and `-p2p`, `ibstat`; several of them may stand
// in one file.
bool SniffTopology(std::string_view head);
std::optional<Error> ReadTopology(std::string_view text, const std::string& path, Trace* trace);

}  // namespace advise
