// Bytes to a file from front to back, packed with gzip where that is wanted. Memory does not depend
// on how many they are.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace advise {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void Write(std::string_view bytes) = 0;
  // Ends the file; fails when any of it could not be written.
  virtual Result<void> Close() = 0;
};

// A new file; one that exists is not written over.
Result<std::unique_ptr<ByteSink>> CreateFile(const std::string& path, bool packed);

}  // namespace advise
