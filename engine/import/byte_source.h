// The bytes of a file from front to back, unpacked when it is a gzip file. Memory does not depend
// on the size of the file.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/base/how_far.h"
#include "engine/import/importer.h"

namespace advise {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Up to `size` bytes into `into`; 0 at the end.
  virtual std::size_t Read(char* into, std::size_t size) = 0;

  // Once the end was reached: why it is not the end of the whole file, "" when it is.
  virtual std::string Problem() const = 0;
};

// Opens a file; gzip is recognized by its first two bytes and may have several members. With
// `ahead` a thread of its own unpacks while the caller works. `how_far` is told the bytes of the
// file, unless it is null.
Result<std::unique_ptr<ByteSource>> OpenBytes(const std::string& path, bool ahead = false,
                                              HowFar* how_far = nullptr);

// The whole file, unpacked. Memory: the size of the text.
Result<std::string> WholeText(const std::string& path, const ImportOptions& options);

// How the text of a file begins: `head`, its first bytes, or what they hold where they are packed.
std::string UnpackedHead(std::string_view head, const std::string& path);

}  // namespace advise
