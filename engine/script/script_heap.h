// The memory of one Lua state. Lua makes thousands of small objects and drops few; they are cut
// from chunks, and dropped ones wait in a list a size to be used again. All of it goes with the
// heap, so a state need not be taken apart object by object when it is done: that and the general
// allocator took a sixth of the time that the program takes to start. Not for two threads at once.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <new>

namespace advise {

class ScriptHeap {
 public:
  // Nothing when there is no memory.
  void* Allocate(std::size_t size) try {
    if (size > kLargest) return large_.allocate(size);
    Dropped*& first = dropped_[Class(size)];
    if (first == nullptr) return chunks_.allocate(Class(size) * kStep);
    Dropped* block = first;
    first = block->next;
    return block;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  // `size` as it was given to Allocate.
  void Free(void* block, std::size_t size) {
    if (size > kLargest) return large_.deallocate(block, size);
    Dropped*& first = dropped_[Class(size)];
    first = new (block) Dropped{first};
  }

 private:
  struct Dropped {
    Dropped* next;
  };
  static constexpr std::size_t kStep = 16;  // the alignment that Lua wants
  static constexpr std::size_t kLargest = 256;
  static constexpr std::size_t kFirstChunk = 16U << 10U;  // of a typical rule's 20 KiB

  static std::size_t Class(std::size_t size) { return (size + kStep - 1) / kStep; }

  std::array<Dropped*, kLargest / kStep + 1> dropped_ = {};
  std::pmr::monotonic_buffer_resource chunks_{kFirstChunk};
  std::pmr::unsynchronized_pool_resource large_{{0, kStep}};  // nothing is pooled: kept to be freed
};

}  // namespace advise
