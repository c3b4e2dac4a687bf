#include "engine/import/kineto/kineto_names.h"

#include <array>
#include <string>

#include "engine/base/ascii.h"

namespace advise::kineto {
namespace {

MemoryKind KindOf(std::string_view word) {
  const auto has = [word](std::string_view part) {
    return word.find(part) != std::string_view::npos;
  };
  if (has("pageable")) return MemoryKind::kPageable;
  if (has("pinned")) return MemoryKind::kPinned;
  if (has("managed")) return has("static") ? MemoryKind::kManagedStatic : MemoryKind::kManaged;
  if (has("device")) return has("static") ? MemoryKind::kDeviceStatic : MemoryKind::kDevice;
  if (has("array")) return MemoryKind::kArray;
  return MemoryKind::kUnknown;
}

CopyDirection DirectionOf(std::string_view name) {
  const auto has = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  if (has("htod") || has("htoa") || has("hosttodevice")) return CopyDirection::kHostToDevice;
  if (has("dtoh") || has("atoh") || has("devicetohost")) return CopyDirection::kDeviceToHost;
  if (has("ptop") || has("peer")) return CopyDirection::kPeerToPeer;
  if (has("dtod") || has("atoa") || has("atod") || has("dtoa") || has("devicetodevice")) {
    return CopyDirection::kDeviceToDevice;
  }
  if (has("htoh") || has("hosttohost")) return CopyDirection::kHostToHost;
  return CopyDirection::kUnknown;
}

}  // namespace

CopyName ParseCopyName(std::string_view name) {
  const std::string lower = Lower(name);
  const std::string_view text = lower;
  CopyName copy;
  const std::size_t open = text.find('(');
  copy.direction = DirectionOf(text.substr(0, open));
  const std::size_t arrow = open == std::string_view::npos ? open : text.find("->", open);
  if (arrow == std::string_view::npos) return copy;
  copy.source = KindOf(text.substr(open, arrow - open));
  copy.target = KindOf(text.substr(arrow));
  return copy;
}

MemoryKind ParseMemsetName(std::string_view name) {
  const std::size_t open = name.find('(');
  const MemoryKind kind =
      open == std::string_view::npos ? MemoryKind::kUnknown : KindOf(Lower(name.substr(open)));
  return kind == MemoryKind::kUnknown ? MemoryKind::kDevice : kind;
}

std::int64_t ElementBytes(std::string_view type) {
  const std::string word = Lower(type);
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 14> kBytes = {{
      {"float", 4},
      {"half", 2},
      {"bfloat16", 2},
      {"double", 8},
      {"byte", 1},
      {"char", 1},
      {"bool", 1},
      {"short", 2},
      {"int", 4},
      {"long", 8},
      {"complexhalf", 4},
      {"complexfloat", 8},
      {"complexdouble", 16},
      {"uint16", 2},
  }};
  if (word.starts_with("float8")) return 1;
  for (const auto& [name, bytes] : kBytes) {
    if (word == name) return bytes;
  }
  return 0;
}

}  // namespace advise::kineto
