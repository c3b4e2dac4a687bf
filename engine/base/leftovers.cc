#include "engine/base/leftovers.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>

namespace advise {
namespace {

// A signal handler may neither allocate nor lock: the list has its size, and its memory stays.
struct Place {
  enum State { kFree, kFilling, kNamed };
  std::atomic<int> state = kFree;
  std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<int>::is_always_lock_free);
std::array<Place, 64> places;

}  // namespace

Leftover::Leftover(const std::string& path) {
  if (path.empty() || path.size() >= PATH_MAX) return;
  for (std::size_t i = 0; i < places.size(); ++i) {
    int expected = Place::kFree;
    if (!places[i].state.compare_exchange_strong(expected, Place::kFilling)) continue;
    path.copy(places[i].path.data(), path.size());
    places[i].path[path.size()] = '\0';
    places[i].state = Place::kNamed;
    place_ = static_cast<int>(i);
    return;
  }
}

Leftover::~Leftover() {
  if (place_ >= 0) places[static_cast<std::size_t>(place_)].state = Place::kFree;
}

void RemoveLeftovers() {
  for (const Place& place : places) {
    if (place.state == Place::kNamed) unlink(place.path.data());
  }
  for (const Place& place : places) {  // folders, now that their files are gone
    if (place.state == Place::kNamed) rmdir(place.path.data());
  }
}

}  // namespace advise
