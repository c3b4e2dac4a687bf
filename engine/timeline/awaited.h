// Who a waiting thread may be waiting for: threads and processes that load data, other threads that
// launch GPU work, compilers.
#pragma once

#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// A kernel or a range says that weights are updated, or that a model server works on requests.
// O(kernels + ranges).
bool SaysTraining(const Run& run);
bool SaysServing(const Run& run);

class Awaited {
 public:
  // O(n log n) in the OS calls, and in the ranges and calls of all threads.
  explicit Awaited(const Run& run);

  // True when the recorded wait [start, end) of `thread` is for data: loader workers, or threads of
  // its own process that read files, are at work during it, and no other launching thread of the
  // process is; or it ends with what another process hands over in shared memory. Workers of which
  // nothing but their names was recorded are taken to be at work. Where not even these are known, a
  // program that trains waits for data if what it does next, after most of its waits, is to upload
  // more than single values. A thread that uploads nothing else waits for no data.
  bool IsLoader(std::uint32_t thread, Nanos start, Nanos end) const;

  // The same of a stretch in which the launching thread shows nothing at all: it may wait without a
  // trace (spinning, or below what the profiler keeps). True where threads of its process load
  // during most of it, and either never rest in the window (a producer that never rests is what the
  // consumer waits for), or rest until they are asked and end, time after time, just before the
  // thread goes on. True as well where loader workers in other processes never rest.
  bool IsSilentLoader(std::uint32_t thread, Nanos start, Nanos end) const;

  // True when the recorded wait [start, end) of `thread` is for a request: another thread of its
  // process, one that launches nothing, waits for the network meanwhile and receives something just
  // before the thread goes on.
  bool IsForRequest(std::uint32_t thread, Nanos start, Nanos end) const;

  // The same of a stretch in which the launching thread shows nothing at all: it may wait without a
  // trace. True where no wait of it is recorded, and time after time such a stretch ends just
  // behind a request.
  bool IsSilentForRequest(std::uint32_t thread, Nanos start, Nanos end) const;

  // True when [start, end) of `thread`, one that launches, lies in an exchange with another
  // program: it sends something, waits, and receives something right behind the wait.
  bool IsForAnswer(std::uint32_t thread, Nanos start, Nanos end) const;

  // True when most of [start, end) of `thread`, one that launches, lies in a wait of its event loop
  // for what comes from outside the program: it receives something right behind the wait, in a
  // program that does not train (a request); or it is the wait of a model server, or in a call that
  // receives and takes longer one time and shorter another; or the wait is as long as people take,
  // and in a program that trains far rarer than steps (the next cell of a notebook). An exchange
  // within one range that comes in each step is a remote call of that step, and no request.
  bool IsForInput(std::uint32_t thread, Nanos start, Nanos end) const;

  // When those who load for `thread` paused for far longer than they usually do, in order: they had
  // loaded all that they may ahead, and rested until it took some of that. Workers of which no wait
  // was recorded did if most of such pauses end when the thread begins to wait. O(pauses log n).
  std::vector<Interval> RestsOfLoaders(std::uint32_t thread) const;

  // A launching thread receives or answers requests itself, time after time, in a program that does
  // not train.
  bool Serves() const { return serves_; }

  // The program is a model server: its engine looks for requests between naps.
  bool IsEngine() const { return engine_; }

  // A compiler ran beside the program.
  bool CompilerSeen() const { return compiler_seen_; }

 private:
  static void SortByEnd(std::vector<std::vector<Interval>>* lists);
  void FindCodeLoaders();
  void FindHandedMemory();
  void FindLoading();
  void FindRequests();
  std::vector<std::uint8_t> AnswerAlone() const;
  void FindSilentRequests();
  void FindInput();
  class SocketCalls;
  IntervalSet InputOf(std::uint32_t thread, bool trains, SocketCalls* socket_calls);
  void FindAnswers();
  IntervalSet RemoteCalls(std::uint32_t thread, std::size_t least) const;
  bool IsUneven(const std::vector<Interval>& waits) const;
  bool IsOfFamily(const char* family, StringId os_call) const;
  void FindHandOvers();
  void FindWaitsBeforeUploads();
  // One of these ends just before the stretch does, and fills half of it or more. `list`: by end.
  bool EndsBehind(const std::vector<Interval>& list, Nanos start, Nanos end) const;
  bool AsksAndGets(std::uint32_t process, Nanos start, Nanos end) const;
  bool OtherCallerActive(std::uint32_t thread, std::uint32_t process, Nanos start, Nanos end) const;
  bool ShowsWaits(std::uint32_t thread) const;
  // Most of a wait of the thread lies behind `time`.
  bool BeginsToWait(std::uint32_t thread, Nanos time) const;
  struct Pace {
    Nanos busy = 0;
    Nanos until_last = 0;  // from the start of the window until the last call in it
  };
  Pace PaceOf(std::uint32_t worker) const;
  bool MostlyLoading(std::uint32_t process, Nanos start, Nanos end) const;

  const Run& run_;
  double awaited_share_;
  double silent_share_;
  double behind_share_;
  double busy_share_;
  Nanos silent_least_;
  std::vector<std::uint32_t> code_loaders_;  // threads that launch nothing, and load GPU code
  bool has_workers_ = false;
  bool compiler_seen_ = false;
  bool workers_recorded_ = false;          // what the workers did, not their names alone
  bool workers_wait_ = false;              // and waits of one of them
  bool workers_never_rest_ = false;        // none of those that read files in the window
  IntervalSet workers_at_work_;            // any of them
  IntervalSet worker_calls_;               // any of them
  std::vector<IntervalSet> loading_;       // per process: threads that launch nothing read or load
  std::vector<std::uint8_t> never_rests_;  // per process
  std::vector<std::vector<Interval>> handed_;  // per thread: see HandedMemory
  std::vector<std::vector<Interval>>
      handed_to_others_;                         // per process: to those that launch nothing
  std::vector<std::vector<Interval>> requests_;  // per process: from waiting to received, by end
  std::vector<std::uint8_t> awaits_silently_;    // per thread: see IsSilentForRequest
  std::vector<IntervalSet> input_;               // per thread: see IsForInput
  std::vector<IntervalSet> answers_;             // per thread: see IsForAnswer
  std::vector<IntervalSet> before_uploads_;      // per thread: see IsLoader
  bool serves_ = false;
  bool engine_ = false;
  std::vector<std::uint8_t> hands_over_;  // per thread: its silent pauses end with loading
};

}  // namespace advise
