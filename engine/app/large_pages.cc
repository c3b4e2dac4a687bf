// Memory of the program's large columns in huge pages, where the system gives them on request: a
// report of a gigabyte fills some 400,000 small pages, whose faults cost a tenth of the run. Part
// of the program only, not of the libraries.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 4 * kHugePage;  // smaller ones come from memory that was used before

// Each on its own, so that what is freed is the system's again at once.
[[maybe_unused]] const int kApart = mallopt(M_MMAP_THRESHOLD, static_cast<int>(kLarge));
// Of smaller ones, this much stays for the next: else the end of the heap goes back and comes
// again, to be cleared each time.
[[maybe_unused]] const int kKept = mallopt(M_TRIM_THRESHOLD, int{16} << 20);
// And it grows by as much: the heap of a thread grows by single pages, a call of the system each.
[[maybe_unused]] const int kGrown = mallopt(M_TOP_PAD, int{16} << 20);

// What it begins with is in huge pages, too: rules and knowledge alone fill 500 small ones. Where
// something of a huge page was touched before it is asked for, there are small ones: a block that
// ends just below the first of them is left out for good. What is never used costs nothing.
[[maybe_unused]] const int kBegun = [] {
  constexpr std::size_t kGrows = std::size_t{1} << 20;
  void* volatile probe = std::malloc(kGrows);  // compilers leave out what is freed at once
  const auto at = reinterpret_cast<std::uintptr_t>(probe);
  std::free(probe);
  const std::uintptr_t first = ((at + kGrows) / kHugePage + 1) * kHugePage;
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0)) / kHugePage * kHugePage;
  if (at == 0 || end <= first) return 0;  // another allocator's
  void* volatile left_out = std::malloc(first - at - 256);
  static_cast<void>(left_out);
  return madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}();

// Other threads have heaps of their own, which glibc aligns to the most that one may grow to. The
// beginning of a heap was touched before it can be asked for: what is left of its first huge page
// stays untouched, and the next ones are huge. Where another allocator stands in for glibc's
// (LD_PRELOAD), this asks in vain, and does no harm.
constexpr std::size_t kMostOfHeap = std::size_t{64} << 20;

class ThreadHeaps {
 public:
  // Once for each heap; threads take over the heaps of those that ended. The first thread has the
  // heap that is prepared above.
  void Prepare() {
    if (getpid() == gettid()) return;
    void* const block = std::malloc(kProbe);
    if (block == nullptr) return;
    const auto at = reinterpret_cast<std::uintptr_t>(block);
    const std::uintptr_t heap = at / kMostOfHeap * kMostOfHeap;
    if (at + 2 * kProbe < heap + kHugePage && IsNew(heap)) {
      const std::uintptr_t next = heap + kHugePage;
      static_cast<void>(
          madvise(reinterpret_cast<void*>(next), kMostOfHeap - kHugePage, MADV_HUGEPAGE));
      void* volatile left_out = std::malloc(next - at - kProbe);  // for good
      static_cast<void>(left_out);
    }
    std::free(block);
  }

 private:
  static constexpr std::size_t kProbe = std::size_t{64} << 10;  // no cache of a thread holds it

  bool IsNew(std::uintptr_t heap) {
    for (std::atomic<std::uintptr_t>& known : heaps_) {
      std::uintptr_t nobody = 0;
      if (known.compare_exchange_strong(nobody, heap)) return true;
      if (nobody == heap) return false;
    }
    return false;  // so many threads: theirs stay as they are
  }

  std::array<std::atomic<std::uintptr_t>, 64> heaps_ = {};
};

ThreadHeaps thread_heaps;
thread_local bool knows_heap = false;

void* Allocate(std::size_t size) {
  if (!knows_heap) {
    knows_heap = true;
    thread_heaps.Prepare();
  }
  if (size < kLarge || size > SIZE_MAX - kHugePage) return std::malloc(size == 0 ? 1 : size);
  const std::size_t whole = (size + kHugePage - 1) / kHugePage * kHugePage;
  void* memory = std::aligned_alloc(kHugePage, whole);
  // A wish: without huge pages the memory is as good.
  if (memory != nullptr) static_cast<void>(madvise(memory, whole, MADV_HUGEPAGE));
  return memory;
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* memory = Allocate(size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
