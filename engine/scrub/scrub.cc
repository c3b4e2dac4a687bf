#include "engine/scrub/scrub.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "engine/base/ascii.h"
#include "engine/base/leftovers.h"
#include "engine/base/replace.h"
#include "engine/import/importer.h"
#include "engine/import/sqlite/sqlite_file.h"
#include "engine/scrub/scrub_kineto.h"
#include "engine/scrub/scrub_text.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

bool IsKept(const std::string& table) {
  static const std::set<std::string> kept = {"ANALYSIS_DETAILS",
                                             "COMPOSITE_EVENTS",
                                             "DIAGNOSTIC_EVENT",
                                             "GPU_METRICS",
                                             "META_DATA_CAPTURE",
                                             "META_DATA_EXPORT",
                                             "MPI_COLLECTIVES_EVENTS",
                                             "MPI_OTHER_EVENTS",
                                             "MPI_P2P_EVENTS",
                                             "MPI_RANKS",
                                             "MPI_START_WAIT_EVENTS",
                                             "NET_NIC_METRIC",
                                             "NIC_ID_MAP",
                                             "NVTX_EVENTS",
                                             "OSRT_API",
                                             "PROCESSES",
                                             "PROFILER_OVERHEAD",
                                             "SAMPLING_CALLCHAINS",
                                             "SCHED_EVENTS",
                                             "StringIds",
                                             "ThreadNames",
                                             "GENERIC_EVENTS",
                                             "GENERIC_EVENT_TYPES",
                                             "TARGET_INFO_GPU",
                                             "TARGET_INFO_GPU_METRICS",
                                             "TARGET_INFO_NETWORK_METRICS",
                                             "TARGET_INFO_NIC_INFO",
                                             "TARGET_INFO_NVTX_CUDA_STREAM",
                                             "TARGET_INFO_SESSION_START_TIME",
                                             "TARGET_INFO_SYSTEM_ENV"};
  return kept.contains(table) || table.starts_with("CUPTI_ACTIVITY_KIND_") ||
         table.starts_with("CUDA_GPU_MEMORY_") || table.starts_with("CUDA_UM_") ||
         table.starts_with("TARGET_INFO_CUDA_") || table.starts_with("ENUM_");
}

// Columns that hold the id of a text in StringIds.
bool IsNameColumn(const std::string& column) {
  static const std::set<std::string> names = {"nameId",    "textId", "demangledName", "mangledName",
                                              "shortName", "symbol", "module"};
  return names.contains(column);
}

std::string SqlQuoted(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void CleanFunction(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  auto* scrubber = static_cast<TextScrubber*>(sqlite3_user_data(context));
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
  const auto bytes = static_cast<std::size_t>(sqlite3_value_bytes(values[0]));
  if (text == nullptr) return sqlite3_result_null(context);
  const std::string clean = scrubber->Clean({text, bytes});
  sqlite3_result_text(context, clean.data(), static_cast<int>(clean.size()), SQLITE_TRANSIENT);
}

class Scrub {
 public:
  Scrub(const sqlite::Source& source, std::string output)
      : source_(source), in_(sqlite::Connect(source)), output_(std::move(output)) {}

  ScrubSummary Run() {
    Learn();
    SQLite::Database out(output_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_URI);
    out.exec("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA secure_delete=ON");
    sqlite3_create_function_v2(out.getHandle(), "clean", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                               &scrubber_, CleanFunction, nullptr, nullptr, nullptr);
    SQLite::Statement attach(out, "ATTACH ? AS old");
    attach.bind(1, source_.uri);
    attach.exec();
    out.exec("BEGIN; CREATE TEMP TABLE used (id INTEGER PRIMARY KEY)");
    SQLite::Statement tables(
        in_, "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name");
    std::vector<std::pair<std::string, std::string>> all;
    while (tables.executeStep()) {
      all.emplace_back(tables.getColumn(0).getString(), tables.getColumn(1).getString());
    }
    for (const auto& [name, sql] : all) {
      if (name.starts_with("sqlite_")) continue;
      if (!IsKept(name)) {
        ++summary_.tables_left_out;
        continue;
      }
      ++summary_.tables_kept;
      if (name != "StringIds") CopyTable(out, name);
    }
    // Last: by now it is known which names are used.
    if (source_.Has("StringIds")) CopyTable(out, "StringIds");
    out.exec("DROP TABLE temp.used; COMMIT; DETACH old");
    summary_.hosts = scrubber_.hosts();
    summary_.users = scrubber_.users();
    summary_.paths = scrubber_.paths();
    summary_.secrets = scrubber_.secrets();
    return summary_;
  }

  const TextScrubber& scrubber() const { return scrubber_; }

 private:
  static bool IsVariable(std::string_view name) { return name.ends_with("ENVIRONMENT_VARIABLE"); }

  // NAME and value of a row of the captured environment: NAME="value".
  static std::pair<std::string, std::string> VariableOf(const std::string& text) {
    const std::size_t equals = std::min(text.find('='), text.size());
    std::string value = equals < text.size() ? text.substr(equals + 1) : "";
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    return {text.substr(0, equals), value};
  }

  // Names of the machine and its user, wherever the report tells them.
  void Learn() {
    if (source_.Has("TARGET_INFO_SYSTEM_ENV", "value")) {
      SQLite::Statement rows(in_, "SELECT name, value FROM TARGET_INFO_SYSTEM_ENV");
      while (rows.executeStep()) {
        const std::string name = rows.getColumn(0).getString();
        const std::string value = rows.getColumn(1).getString();
        if (name == "Hostname") scrubber_.LearnHost(value);
        scrubber_.LearnVariable(name, value);
      }
    }
    // Who exported the report, and where, is often another than who recorded it.
    for (const char* table : {"META_DATA_CAPTURE", "META_DATA_EXPORT"}) {
      if (!source_.Has(table, "value")) continue;
      SQLite::Statement rows(in_, fmt::format("SELECT name, value FROM {}", table));
      while (rows.executeStep()) {
        const std::string row = rows.getColumn(0).getString();
        const std::string text = rows.getColumn(1).getString();
        if (!IsVariable(row)) {
          if (row.ends_with("EXPORT_USER") || row.ends_with(":USER_NAME")) {
            scrubber_.LearnUser(text);
          }
          if (row.ends_with("EXPORT_HOST") || row.ends_with(":HOST_NAME")) {
            scrubber_.LearnHost(text);
          }
          scrubber_.LearnPaths(text);
          continue;
        }
        const auto [name, value] = VariableOf(text);
        scrubber_.LearnVariable(name, value);
        ++summary_.variables;
      }
    }
    for (const auto& [table, column] : {std::pair{"StringIds", "value"},
                                        {"PROCESSES", "name"},
                                        {"NVTX_EVENTS", "text"},
                                        {"DIAGNOSTIC_EVENT", "text"}}) {
      if (!source_.Has(table, column)) continue;
      SQLite::Statement rows(in_, fmt::format("SELECT {0} FROM {1} WHERE {0} LIKE '%/home/%' OR "
                                              "{0} LIKE '%users/%' OR {0} LIKE '%users\\%'",
                                              SqlQuoted(column), SqlQuoted(table)));
      while (rows.executeStep()) scrubber_.LearnPaths(rows.getColumn(0).getString());
    }
  }

  void CopyTable(SQLite::Database& out, const std::string& table) {
    struct Column {
      std::string name, type;
    };
    std::vector<Column> columns;
    SQLite::Statement info(in_, "PRAGMA table_info(" + SqlQuoted(table) + ")");
    std::string declared;
    while (info.executeStep()) {
      columns.push_back({info.getColumn(1).getString(), info.getColumn(2).getString()});
      const bool plain =
          std::all_of(columns.back().type.begin(), columns.back().type.end(), IsAlnum);
      declared += (declared.empty() ? "" : ", ") + SqlQuoted(columns.back().name) +
                  (plain ? " " + columns.back().type : "");
      if (table == "StringIds" && columns.back().name == "id") declared += " PRIMARY KEY";
    }
    if (columns.empty()) return;
    out.exec(fmt::format("CREATE TABLE main.{} ({})", SqlQuoted(table), declared));
    std::string wanted;
    for (const Column& column : columns) {
      wanted += (wanted.empty() ? "" : ", ") + Expression(table, column.name);
      if (table != "StringIds" && IsNameColumn(column.name)) {
        out.exec(
            fmt::format("INSERT OR IGNORE INTO temp.used SELECT DISTINCT {0} FROM old.{1} "
                        "WHERE typeof({0}) = 'integer'",
                        SqlQuoted(column.name), SqlQuoted(table)));
      }
    }
    if (table == "META_DATA_CAPTURE" || table == "META_DATA_EXPORT" ||
        table == "TARGET_INFO_SYSTEM_ENV") {
      return CopyNamed(out, table);
    }
    const char* filter = table == "StringIds" ? " WHERE id IN (SELECT id FROM temp.used)" : "";
    out.exec(fmt::format("INSERT INTO main.{0} SELECT {1} FROM old.{0}{2}", SqlQuoted(table),
                         wanted, filter));
  }

  // Texts are cleaned, numbers stay, binary data goes; structured payloads are of no use here.
  static std::string Expression(const std::string& table, const std::string& column) {
    std::string name = SqlQuoted(column);
    if (column == "jsonText" || column == "jsonTextId" || column == "binaryData") return "NULL";
    // What a version, a unit or an enumeration is called names nobody.
    if (table.starts_with("ENUM_")) return name;
    return fmt::format(
        "CASE typeof({0}) WHEN 'text' THEN clean({0}) WHEN 'blob' THEN NULL ELSE {0} END", name);
  }

  // Tables of names and values: only what a diagnosis reads.
  void CopyNamed(SQLite::Database& out, const std::string& table) {
    SQLite::Statement rows(in_, "SELECT name, value FROM " + SqlQuoted(table));
    SQLite::Statement insert(
        out, "INSERT INTO main." + SqlQuoted(table) + " (name, value) VALUES (?, ?)");
    while (rows.executeStep()) {
      const std::string name = rows.getColumn(0).getString();
      const std::string value = rows.getColumn(1).getString();
      std::string kept;
      if (table == "TARGET_INFO_SYSTEM_ENV") {
        if (name == "Hostname") {
          kept = HostAlias(value);
        } else if (name == "CpuCores" || name.ends_with("DriverVersion")) {
          kept = scrubber_.Clean(value);
        } else {
          continue;
        }
      } else if (table == "META_DATA_EXPORT") {
        if (!IsExportFact(name)) continue;
        kept = scrubber_.Clean(value);
      } else if (IsVariable(name)) {
        const auto [variable, content] = VariableOf(value);
        if (!scrubber_.IsSwitch(variable, content)) continue;
        kept = value;
      } else {
        if (!IsOption(name)) continue;
        kept = scrubber_.Clean(value);
      }
      insert.bind(1, scrubber_.Clean(name));
      insert.bind(2, kept);
      insert.exec();
      insert.reset();
    }
  }

  // Which program wrote the export in which form; not who did so, where, and to which file.
  static bool IsExportFact(const std::string& name) {
    for (const char* prefix : {"EXPORT_SCHEMA_", "EXPORT_PRODUCT_", "EXPORT_PARAM_TIME",
                               "EXPORT_CONFIG_TIME", "EXPORT_TIME", "EXPORT_PARAM_LAZY",
                               "EXPORT_PLATFORM", "EXPORT_ARCH", "DERIVED_WINDOW_NS"}) {
      if (name.starts_with(prefix)) return true;
    }
    return false;
  }

  // Options of the capture, by what they are about; command lines, files and folders are not.
  static bool IsOption(const std::string& name) {
    for (const char* part : {"COMMAND", "ARG", "PATH", "DIR", "USER", "HOST", "FILE", "OUTPUT",
                             "PASSW", "TARGET_NAME", "APPLICATION"}) {
      if (name.find(part) != std::string::npos) return false;
    }
    for (const char* prefix :
         {"CAPTURE_", "CUDA_", "COLLECT_", "OS_RUNTIME", "GPU_", "NVTX_", "NIC_", "CPU_",
          "SAMPLING_", "CUBLAS_", "CUDNN_", "MPI_", "UCX_", "NET_", "CTX_", "SCHED"}) {
      if (name.starts_with(prefix)) return true;
    }
    return false;
  }

  // Reports of one run tell their hosts apart; 16 bits name none.
  static std::string HostAlias(const std::string& host) {
    std::uint32_t hash = 2166136261U;
    for (const char c : host) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return fmt::format("host-{:04x}", (hash ^ (hash >> 16U)) & 0xFFFFU);
  }

  const sqlite::Source& source_;
  SQLite::Database in_;
  std::string output_;
  TextScrubber scrubber_;
  ScrubSummary summary_;
};

// The first of `words` in the file, or "".
std::string FoundIn(const std::string& path, const std::set<std::string>& words) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const std::string& word : words) {
    if (bytes.find(word) != std::string::npos) return word;
  }
  return "";
}

}  // namespace

Result<ScrubSummary> ScrubReport(const std::string& report, const std::string& output) {
  std::error_code failed;
  if (fs::exists(fs::symlink_status(output, failed))) {
    return Fail("already exists and is not overwritten", output, "name another file with -o");
  }
  if (fs::exists(report, failed) && !fs::is_regular_file(report, failed)) {
    return Fail("no file, but a pipe, a device or a directory", report, "name one report");
  }
  std::ifstream file(report, std::ios::binary);
  std::array<char, 16> head = {};
  file.read(head.data(), head.size());
  if (!file) return Fail("cannot be read", report);
  const std::string_view kind = ImporterNameOf(report);
  if (kind == "kineto") return ScrubKineto(report, output);
  if (kind != "nsys-sqlite" || !sqlite::IsDatabase({head.data(), head.size()})) {
    return Fail(
        "only SQLite exports of Nsight Systems and traces of PyTorch's profiler can be scrubbed",
        report, "of a .nsys-rep: nsys export --type=sqlite");
  }
  const Result<sqlite::Source> source = sqlite::OpenSource(report);
  if (!source) return tl::unexpected(source.error());
  const std::string unfinished = output + ".unfinished";
  const Leftover leftovers[] = {Leftover(unfinished), Leftover(unfinished + "-journal")};
  // An empty file is a new database; what else is wrong with a database that cannot be made, SQLite
  // does not say.
  if (!std::ofstream(unfinished)) {
    return Fail(std::string("cannot be written: ") + std::strerror(errno), output);
  }
  try {
    Scrub scrub(*source, unfinished);
    const ScrubSummary summary = scrub.Run();
    if (summary.tables_kept == 0) {
      fs::remove(unfinished, failed);
      return Fail("holds no table of Nsight Systems", report,
                  "of a facts file: scrub the report, then write the facts of the copy");
    }
    if (!FoundIn(unfinished, scrub.scrubber().MustBeGone()).empty()) {
      fs::remove(unfinished, failed);
      return Fail("a host name or a key is still in the copy, so the copy was deleted", report,
                  "please report it with the version of the profiler");
    }
    if (const auto moved = MoveIntoPlace(unfinished, output); !moved)
      return tl::unexpected(moved.error());
    return summary;
  } catch (const std::exception& problem) {
    fs::remove(unfinished, failed);
    return Fail(std::string("cannot be scrubbed: ") + problem.what(), report);
  }
}

}  // namespace advise
