// Tables as profilers print them: comma-separated, or in columns under a heading that is ruled off
// with dashes. Several may stand in one file, with other output between them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/import/text_input.h"

namespace advise {

struct PrintedTable {
  struct Column {
    std::string name;  // lower case, without unit: "total time"
    std::string unit;  // "ns", "%", "MB"; "" without
  };
  struct Row {
    std::size_t line = 0;  // from 1
    std::vector<std::string> cells;
  };

  std::vector<Column> columns;
  std::vector<Row> rows;
  std::size_t line = 0;     // of the heading
  bool by_rocprof = false;  // AMD's rocprof or rocprofv3 wrote it; columns have nsys' names

  // The first column of any of these names.
  std::optional<std::size_t> Find(std::initializer_list<std::string_view> names) const;
  bool Has(std::string_view name) const { return Find({name}).has_value(); }
};

struct PrintedTables {
  std::vector<PrintedTable> tables;
  NumberStyle style;           // learnt from all cells
  std::int64_t cut_short = 0;  // rows of another width than their heading
};

// Tables whose heading names something ("name", "operation", "kernel", "range") beside a time.
PrintedTables PrintedTablesOf(std::string_view text);

// Nanoseconds of one "ns", "us", "ms", "s"; nothing for other units.
std::optional<double> NanosecondsOf(std::string_view unit);

// "12.345us", "1.2ms" in nanoseconds.
std::optional<double> DurationOf(std::string_view text);

}  // namespace advise
