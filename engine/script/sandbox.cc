#include "engine/script/sandbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <exception>
#include <lua.hpp>
#include <new>

#include "engine/script/lua_library.h"

namespace advise {
namespace {

constexpr int kHookInterval = 1000;
constexpr int kMostRefusals = 6;

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Runs the body that its argument points to. Exceptions of C++ become errors of Lua; those of Lua
// are of another type and pass.
int CallBody(lua_State* state) {
  const auto* body = static_cast<const std::function<void(lua_State*)>*>(lua_touserdata(state, 1));
  lua_settop(state, 0);
  try {
    (*body)(state);
  } catch (const std::exception& problem) {
    return luaL_error(state, "%s", problem.what());
  }
  return 0;
}

}  // namespace

void* Sandbox::Allocate(void* self, void* block, std::size_t old_size, std::size_t new_size) {
  auto* sandbox = static_cast<Sandbox*>(self);
  const bool is_new = block == nullptr;
  const bool is_text = is_new && old_size == LUA_TSTRING;  // for new blocks it is the type's tag
  const std::size_t old_bytes = is_new ? 0 : old_size;
  if (new_size == 0) {
    if (!is_new) sandbox->heap_.Free(block, old_bytes);
    sandbox->alive_bytes_ -= old_bytes;
    return nullptr;
  }
  if (new_size > old_bytes) {
    const std::size_t more = new_size - old_bytes;
    Refused refused = Refused::kNothing;
    if (is_text && new_size > sandbox->limits_.text_bytes) refused = Refused::kText;
    if (sandbox->turnover_bytes_ + more > sandbox->limits_.turnover_bytes) {
      refused = Refused::kTurnover;
    }
    if (sandbox->alive_bytes_ + more > sandbox->limits_.memory_bytes) refused = Refused::kMemory;
    // Lua collects garbage and asks again. At the brim it would do so for every small block.
    if (refused == Refused::kNothing && sandbox->refusals_ > kMostRefusals) {
      refused = sandbox->refused_;
    }
    if (refused != Refused::kNothing) {
      ++sandbox->refusals_;
      sandbox->refused_ = refused;
      return nullptr;
    }
  }
  void* moved = sandbox->heap_.Allocate(new_size);
  if (moved == nullptr) return nullptr;
  if (!is_new) {
    std::memcpy(moved, block, std::min(old_bytes, new_size));
    sandbox->heap_.Free(block, old_bytes);
  }
  if (new_size > old_bytes) sandbox->turnover_bytes_ += new_size - old_bytes;
  sandbox->alive_bytes_ += new_size;
  sandbox->alive_bytes_ -= old_bytes;
  return moved;
}

void Sandbox::CountHook(lua_State* state, lua_Debug*) {
  Sandbox& sandbox = Of(state);
  sandbox.Charge(state, kHookInterval);
  if (sandbox.cpu_deadline_ == 0) {
    sandbox.cpu_deadline_ = CpuSeconds() + sandbox.limits_.cpu_seconds;
  } else if (CpuSeconds() > sandbox.cpu_deadline_) {
    luaL_error(state, "time limit reached: a rule may use %d seconds of the processor",
               static_cast<int>(sandbox.limits_.cpu_seconds));
  }
}

Sandbox& Sandbox::Of(lua_State* state) {
  return **static_cast<Sandbox**>(lua_getextraspace(state));
}

Sandbox::Sandbox(const SandboxLimits& limits) : limits_(limits) {
  state_ = lua_newstate(Allocate, this);
  if (state_ == nullptr) throw std::bad_alloc();
  *static_cast<Sandbox**>(lua_getextraspace(state_)) = this;
  Renew();
  const std::optional<std::string> problem = Protect(InstallLibrary);
  if (problem) throw std::bad_alloc();  // only a limit too small for the library itself
  lua_sethook(state_, CountHook, LUA_MASKCOUNT, kHookInterval);
}

void Sandbox::Renew() {
  work_left_ = limits_.instructions;
  turnover_bytes_ = 0;
  refused_ = Refused::kNothing;
  refusals_ = 0;
  cpu_deadline_ = 0;
}

void Sandbox::Charge(lua_State* state, std::int64_t work) {
  work_left_ -= work;
  if (work_left_ < 0) {
    luaL_error(state, "instruction limit reached: a rule may run %d instructions",
               static_cast<int>(limits_.instructions));
  }
}

void Sandbox::OffTheClock(const std::function<void()>& body) {
  if (cpu_deadline_ == 0) return body();
  const double before = CpuSeconds();
  body();
  cpu_deadline_ += CpuSeconds() - before;
}

std::optional<std::string> Sandbox::Protect(const std::function<void(lua_State*)>& body) {
  lua_pushcfunction(state_, CallBody);
  lua_pushlightuserdata(state_, const_cast<std::function<void(lua_State*)>*>(&body));
  const int status = lua_pcall(state_, 1, 0, 0);
  if (status == LUA_OK) return std::nullopt;
  std::string text = ErrorText(status);
  lua_settop(state_, 0);
  return text;
}

std::string Sandbox::ErrorText(int status) const {
  if (status == LUA_ERRMEM) {
    switch (refused_) {
      case Refused::kText:
        return fmt::format("text limit reached: a text may have {} KiB", limits_.text_bytes >> 10U);
      case Refused::kTurnover:
        return fmt::format("memory limit reached: a rule may allocate {} MiB in all",
                           limits_.turnover_bytes >> 20U);
      case Refused::kMemory:
        return fmt::format("memory limit reached: a rule may hold {} MiB",
                           limits_.memory_bytes >> 20U);
      case Refused::kNothing:
        break;
    }
    return "out of memory";
  }
  // Only a string is read as it is: converting another value could fail outside a protected call.
  if (lua_type(state_, -1) == LUA_TSTRING) {
    std::size_t size = 0;
    const char* text = lua_tolstring(state_, -1, &size);
    return {text, size};
  }
  return fmt::format("error() was called with a {} instead of a text", luaL_typename(state_, -1));
}

int Sandbox::Compile(lua_State* state, std::string_view text, const std::string& chunk_name) {
  lua_gc(state, LUA_GCSTOP);  // compiling drops next to nothing
  const int status =
      luaL_loadbufferx(state, text.data(), text.size(), ("@" + chunk_name).c_str(), "t");
  lua_gc(state, LUA_GCRESTART);
  if (status != LUA_OK) lua_error(state);
  return luaL_ref(state, LUA_REGISTRYINDEX);
}

// The collector goes on: stopped and started again, it would look for garbage after each chunk.
int Sandbox::LoadBytecode(lua_State* state, std::string_view code) {
  if (luaL_loadbufferx(state, code.data(), code.size(), "", "b") != LUA_OK) lua_error(state);
  return luaL_ref(state, LUA_REGISTRYINDEX);
}

void Sandbox::CallChunk(lua_State* state, int chunk) const {
  lua_rawgeti(state, LUA_REGISTRYINDEX, chunk);
  PushEnvironment(state);  // each time: the chunk may have assigned to _ENV
  lua_setupvalue(state, -2, 1);
  lua_call(state, 0, 1);
}

}  // namespace advise
