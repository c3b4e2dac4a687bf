#include "engine/metrics/losses/kernels/product_reuse.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace advise {
namespace {

struct Tile {
  double rows = 0, columns = 0;  // 0: the name says none
  bool in_order = false;         // its rows are along the first dimension of the grid
};

// Reads "128x64" behind the word.
Tile TileBehind(std::string_view word, std::string_view name) {
  const std::size_t at = name.find(word);
  if (at == std::string_view::npos) return {};
  const char* const end = name.data() + name.size();
  int rows = 0;
  int columns = 0;
  const auto first = std::from_chars(name.data() + at + word.size(), end, rows);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != 'x') return {};
  if (std::from_chars(first.ptr + 1, end, columns).ec != std::errc()) return {};
  return {static_cast<double>(rows), static_cast<double>(columns), false};
}

// CUTLASS and its relatives may deal tiles to blocks so that several columns of tiles stand along
// the first dimension: only cuBLAS's own kernels tell by their grid how wide the result is.
Tile TileOf(std::string_view name) {
  if (name.find("cutlass") != std::string_view::npos) return {};
  Tile own = TileBehind("sgemm_", name);
  own.in_order = true;
  return own.rows > 0 ? own : TileBehind("tilesize", name);
}

bool SplitsSums(std::string_view name) {
  for (const std::string_view word : {"split", "sliced"})
    if (name.find(word) != std::string_view::npos) return true;
  return false;
}

}  // namespace

double MostByMemory(const KernelShape& shape, std::string_view name, double fp32_flops,
                    double bytes_per_s) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (fp32_flops <= 0 || bytes_per_s <= 0 || shape.Blocks() == 0) return kUnknown;
  if (shape.grid[2] > 1 && !SplitsSums(name)) return kUnknown;
  const Tile tile = TileOf(name);
  if (tile.rows <= 0 || tile.columns <= 0) return kUnknown;
  if (!tile.in_order && shape.grid[0] > 1) return kUnknown;
  const double rows = tile.rows * shape.grid[0];
  const double columns = tile.columns * shape.grid[1];
  // Per step of the sum, FP32 units compute 2 * rows * columns, and memory moves 4 bytes of each
  // row and column, or 2 of each in 16 bits: so the sum's length does not matter. Padding of the
  // tile is computed, too.
  constexpr double kFlops = 2;
  constexpr double kBytes = 2;
  const double computing = kFlops * rows * columns / fp32_flops;
  const double reading = kBytes * (rows + columns) / bytes_per_s;
  return std::max(computing, 2 * reading) / reading;
}

}  // namespace advise
