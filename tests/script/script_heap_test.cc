#include "engine/script/script_heap.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace advise {
namespace {

struct Block {
  unsigned char* at;
  std::size_t size;
  unsigned char mark;
};

bool IsWhole(const Block& block) {
  for (std::size_t i = 0; i < block.size; ++i) {
    if (block.at[i] != block.mark) return false;
  }
  return true;
}

TEST_CASE("blocks in use never share memory") {
  ScriptHeap heap;
  std::mt19937 random(7);
  std::vector<Block> blocks;
  for (int round = 0; round < 20'000; ++round) {
    const bool drop = !blocks.empty() && random() % 5 < 2;
    if (drop) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      REQUIRE(IsWhole(blocks.back()));
      heap.Free(blocks.back().at, blocks.back().size);
      blocks.pop_back();
      continue;
    }
    const std::size_t size = random() % 50 == 0 ? 1 + random() % 20'000 : 1 + random() % 400;
    Block made{static_cast<unsigned char*>(heap.Allocate(size)), size,
               static_cast<unsigned char>(random() % 256)};
    REQUIRE(reinterpret_cast<std::uintptr_t>(made.at) % alignof(std::max_align_t) == 0);
    std::memset(made.at, made.mark, size);
    blocks.push_back(made);
  }
  for (const Block& block : blocks) REQUIRE(IsWhole(block));
}

TEST_CASE("a dropped block is used again by one of its size") {
  ScriptHeap heap;
  void* first = heap.Allocate(40);
  void* other = heap.Allocate(100);
  heap.Free(first, 40);
  CHECK(heap.Allocate(100) != first);
  CHECK(heap.Allocate(48) == first);
  heap.Free(other, 100);
  CHECK(heap.Allocate(112) == other);
}

}  // namespace
}  // namespace advise
