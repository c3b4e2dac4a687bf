// Gaps: stretches of a device's idle time, and the pieces into which causes cut them. There can be
// as many as kernels, so both are stored small; what is read is made on the way out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/timeline/budget.h"
#include "engine/timeline/host_activity.h"
#include "engine/timeline/run.h"
#include "engine/trace/idle_cause.h"

namespace advise {

struct Gap {
  Nanos start = 0;
  Nanos end = 0;
  std::uint32_t op = kNone;  // that ends it; kNone at the end of the trace
  // That launched this op (or the one before, when there is none).
  std::uint32_t thread = kNone;
  // The blocking call after which the host has not been ahead of the GPU again: the gap is part of
  // its recovery.
  std::uint32_t blocked_by = kNone;
  std::uint16_t device = 0;
  bool host_late = false;  // the launch began after the gap did
  Nanos Length() const { return end - start; }
};

// A stretch of a gap with one cause.
struct GapPiece {
  Nanos start = 0;
  Nanos end = 0;
  std::uint32_t gap = 0;
  std::uint16_t device = 0;
  IdleCause cause = IdleCause::kUnknown;
  Phase phase = Phase::kUnnamed;
  Activity activity = Activity::kCode;
  // The thread that did this, where the launching thread waited for it (HandOvers); else kNone.
  std::uint32_t other_thread = kNone;
  Nanos Length() const { return end - start; }
};

// Reads a list by index; what it points to is a value made for the occasion.
template <typename List, typename Value>
class ListIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Value;
  ListIterator(const List* list, std::size_t row) : list_(list), row_(row) {}
  Value operator*() const { return (*list_)[row_]; }
  ListIterator& operator++() {
    ++row_;
    return *this;
  }
  bool operator==(const ListIterator& other) const { return row_ == other.row_; }

 private:
  const List* list_;
  std::size_t row_;
};

// Where the gaps of each device lie: the intervals of its idle time, shared with the budget.
class GapTimes {
 public:
  GapTimes() = default;
  explicit GapTimes(const std::vector<DeviceTime>& times) {
    for (const DeviceTime& time : times) {
      first_.push_back(all_);
      idle_.push_back(time.idle);
      all_ += time.idle.intervals().size();
    }
  }
  std::size_t all() const { return all_; }
  Interval Of(std::uint16_t device, std::size_t gap) const {
    return idle_[device].intervals()[gap - first_[device]];
  }

 private:
  std::vector<IntervalSet> idle_;
  std::vector<std::size_t> first_;  // the number of each device's first gap
  std::size_t all_ = 0;
};

// All gaps by device, then time: one for each interval of idle time.
class Gaps {
 public:
  using const_iterator = ListIterator<Gaps, Gap>;
  Gaps() = default;
  explicit Gaps(const GapTimes& times) : times_(times) { rows_.reserve(times.all()); }

  // The next one. Its times must be those of the next interval: they are not kept.
  void Append(const Gap& gap) {
    rows_.push_back({gap.op, gap.thread, gap.blocked_by, gap.device, gap.host_late});
  }
  std::size_t size() const { return rows_.size(); }
  Gap operator[](std::size_t i) const {
    const Row& row = rows_[i];
    const Interval at = times_.Of(row.device, i);
    return {at.start, at.end, row.op, row.thread, row.blocked_by, row.device, row.host_late};
  }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size()}; }

 private:
  struct Row {
    std::uint32_t op, thread, blocked_by;
    std::uint16_t device;
    bool host_late;
  };
  GapTimes times_;
  std::vector<Row> rows_;
};

// All pieces by device, then time. Those of a gap follow each other without a break and fill it.
class GapPieces {
 public:
  using const_iterator = ListIterator<GapPieces, GapPiece>;
  GapPieces() = default;
  explicit GapPieces(const GapTimes& times) : times_(times) { rows_.reserve(times.all()); }

  // The next one. It must start where the one before it ended, or where its gap does: a piece ends
  // with its gap or where the next piece starts.
  void Append(const GapPiece& piece) {
    Row row;
    row.start = piece.start;
    row.gap = piece.gap;
    row.device = piece.device;
    row.cause = piece.cause;
    row.phase = piece.phase;
    row.activity = piece.activity;
    row.other_thread = piece.other_thread != kNone;
    if (row.other_thread)
      other_threads_.emplace_back(static_cast<std::uint32_t>(rows_.size()), piece.other_thread);
    rows_.push_back(row);
    causes_ |= Bit(piece.cause);
    phases_ |= Bit(piece.phase);
    activities_ |= Bit(piece.activity);
  }
  std::size_t size() const { return rows_.size(); }
  GapPiece operator[](std::size_t i) const {
    const Row& row = rows_[i];
    const bool last = i + 1 == rows_.size() || rows_[i + 1].gap != row.gap;
    const Nanos end = last ? times_.Of(row.device, row.gap).end : rows_[i + 1].start;
    return {row.start, end,       row.gap,      row.device,
            row.cause, row.phase, row.activity, row.other_thread ? OtherThread(i) : kNone};
  }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size()}; }

  // Whether any piece is of this kind: most kinds are not, and need no look at all pieces.
  bool Any(IdleCause cause) const { return (causes_ & Bit(cause)) != 0; }
  bool Any(Phase phase) const { return (phases_ & Bit(phase)) != 0; }
  bool Any(Activity activity) const { return (activities_ & Bit(activity)) != 0; }

  // The first piece of the device, or of a later one, that ends after `time`; size() when none
  // does. O(log n).
  std::size_t FirstEndingAfter(std::uint32_t device, Nanos time) const;

 private:
  struct Row {
    Nanos start;
    std::uint32_t gap;
    std::uint16_t device;
    IdleCause cause : 4;
    Phase phase : 4;
    Activity activity : 7;
    bool other_thread : 1;
  };
  static_assert(sizeof(Row) == 16);
  std::uint32_t OtherThread(std::size_t row) const;
  static std::uint32_t Bit(auto kind) { return 1U << static_cast<unsigned>(kind); }

  std::uint32_t causes_ = 0, phases_ = 0, activities_ = 0;  // a bit for each that occurs
  GapTimes times_;
  std::vector<Row> rows_;
  // By row, ascending: few pieces have one.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> other_threads_;
};

}  // namespace advise
