// Independent pieces of work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

namespace advise {

// Calls body(i) for each i below `count`, each once, on up to `threads` threads, this one among
// them; each takes the next i that nobody has begun. Returns when all are done, and then rethrows
// what one threw (the others go on with what is left).
template <typename Body>
void SideBySide(std::size_t count, std::size_t threads, const Body& body) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::future<void>> others;
  for (std::size_t t = 1; t < std::min(threads, count); ++t) {
    others.push_back(std::async(std::launch::async, work));
  }
  work();
  for (std::future<void>& other : others) other.get();
}

// Threads that reading rules and knowledge is worth: there are few milliseconds to share.
inline std::size_t StartThreads() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 4);
}

}  // namespace advise
