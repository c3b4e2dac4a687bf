// Which python functions are the program's own: "train.py(62): step", but no library's
// ("torch/nn/modules/module.py(1511): _call_impl"), "<built-in …>" or "nn.Module: Linear_0".
#pragma once

#include <string_view>

namespace advise {

inline bool IsOwnPythonFrame(std::string_view name) {
  if (name.find(".py(") == std::string_view::npos) return false;
  for (const std::string_view library :
       {"torch/", "site-packages/", "dist-packages/", "lib/python", "multiprocessing/",
        "threading.py(", "<frozen", "contextlib.py(", "runpy.py("}) {
    if (name.find(library) != std::string_view::npos) return false;
  }
  return true;
}

}  // namespace advise
