// mpi.*: calls of MPI, and GPUs that idle while the host waits in them.
#include <algorithm>

#include "engine/base/is_in.h"
#include "engine/base/launcher_variables.h"
#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

Rows FunctionRows(const Mpi& m) {
  return RowsOf(
      m.functions,
      [](const MpiFunction& function) {
        return Row{{"name", function.name},
                   {"count", static_cast<double>(function.count)},
                   {"time", function.time_ns},
                   {"bytes", function.bytes},
                   {"idle", function.idle_ns}};
      },
      10);
}

// By a name that only MPI has, or because an MPI launcher started it. Frameworks are started by
// such launchers, too, and communicate by other means.
bool IsMpiProgram(const Analysis& a) {
  if (!a.kind.framework.empty()) return false;
  const std::vector<std::string>& languages = a.kind.languages;
  if (IsIn("MPI", languages)) return true;
  const auto& environment = a.run.trace.environment;
  return std::any_of(environment.begin(), environment.end(),
                     [](const auto& variable) { return IsIn(variable.first, kMpiRankVariables); });
}

// Programs that do not use MPI have no calls of it: that is known, recorded or not.
bool RecordedIfUsed(const Analysis& a) { return a.run.trace.mpi.size() > 0 || !IsMpiProgram(a); }

}  // namespace

void DeclareMpiFacts(Catalog* catalog) {
  auto& mpi = catalog->Of(&Analysis::mpi);
  mpi.Needs(RecordedIfUsed, "calls of MPI were not recorded", "mpi");
  mpi.Add("mpi.count", "count", "Number of MPI calls of launching threads in the window.",
          &Mpi::count);
  mpi.Add("mpi.functions", "rows",
          "MPI calls of launching threads by function: name, count, time, bytes, idle (time in "
          "which a GPU was idle meanwhile).",
          FunctionRows);
  mpi.AddLoss("mpi.late", kOfGaps,
              {"gaps of the loop in which the launching thread waits for a message of a late rank",
               "Idle time in sends, receives and waits of MPI, beyond what the messages need.",
               "Messages are there when the host asks for them."},
              &Mpi::late);
  mpi.AddLoss("mpi.uneven", kOfGaps,
              {"gaps of the loop in which the launching thread waits for other ranks in a "
               "collective of MPI",
               "Idle time in collectives of MPI, beyond what they need.",
               "All ranks come to the collectives of MPI at the same time."},
              &Mpi::uneven);
  mpi.AddLoss("mpi.transfer", kOfGaps,
              {"gaps of the loop in which MPI messages are in transit",
               "Idle time in calls of MPI, as long as their messages need.",
               "MPI messages are in transit while the GPU computes."},
              &Mpi::transfer);
  mpi.Add("mpi.messages", "count", "Messages that launching threads send by MPI, per step.",
          &Mpi::messages_per_step);
  mpi.Add("mpi.message_bytes", "bytes", "Median size of the messages that are sent by MPI.",
          UnlessNegative(&Mpi::message_median_bytes, "no sizes of messages were recorded", "mpi"));
  mpi.AddLoss("mpi.small", kChange,
              {"",
               "Idle time in small MPI messages that could be sent with another one to the same "
               "rank.",
               "Each rank sends one message per step to each other rank in place of many small "
               "ones."},
              &Mpi::small);
  mpi.Add("mpi.small.per_step", "count", "Small messages that are sent by MPI, per step.",
          &Mpi::small_per_step);
  mpi.AddLoss("mpi.staged", kOfCopies,
              {"copies between host and device that only carry what MPI sends or has received",
               "Exposed time of copies that carry data of MPI to the host and back.",
               "MPI sends from and receives into the memory of the GPU."},
              &Mpi::staged);
  mpi.AddLoss("mpi.file", kOfGaps,
              {"gaps of the loop in which the launching thread reads or writes files with MPI",
               "Idle time in file calls of MPI.",
               "The launching thread makes no file calls of MPI in the loop."},
              &Mpi::file);
}

}  // namespace advise::facts
