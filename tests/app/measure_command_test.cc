// The names by which kernels are looked for when they are measured.
#include "engine/pipeline/measure_command.h"

#include <catch2/catch.hpp>

namespace advise {
namespace {

TEST_CASE("a kernel is found by the name of its function") {
  CHECK(KernelFunction("norm_gate") == "norm_gate");
  CHECK(KernelFunction("void lib::g<float, 2>(float*, int)") == "g");
  CHECK(KernelFunction("(anonymous namespace)::f(int)") == "f");
  // Numba's, whose tags hold a hash.
  CHECK(KernelFunction("frames::blur[abi:v1,cw51cXTLSUwv1sDU](Array<float, (int)2, C>)") == "blur");
}

}  // namespace
}  // namespace advise
