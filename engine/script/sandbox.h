// One Lua state in which a rule can do no harm: no files, no environment, no clock, no bytecode, no
// metatables, and limits on memory and work that the rule cannot swallow. The names it offers are
// those of library.cc and api.cc.
//
// Everything that touches the state must run inside Protect(): elsewhere an error of Lua would end
// the program. Not for two threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/script/script_heap.h"

struct lua_State;
struct lua_Debug;

namespace advise {

struct RunContext;

struct SandboxLimits {
  std::size_t memory_bytes = 64U << 20U;   // alive at once
  std::size_t text_bytes = 64U << 10U;     // of one string
  std::size_t turnover_bytes = 1U << 30U;  // allocated in all: many large strings made and dropped
  std::int64_t instructions = 10'000'000;  // of the virtual machine, and work of library functions
  double cpu_seconds = 10;                 // for what the counts above miss; without fact reading
};

class Sandbox {
 public:
  explicit Sandbox(const SandboxLimits& limits = {});
  ~Sandbox() = default;
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // Runs `body`; returns what went wrong, or nothing. A limit that was hit is named. The stack is
  // empty when `body` starts and when it is left.
  std::optional<std::string> Protect(const std::function<void(lua_State*)>& body);

  // Compiles a text chunk and keeps it, under the number that it gives back; call inside Protect.
  // Errors carry "chunk_name:line".
  int Compile(lua_State* state, std::string_view text, const std::string& chunk_name);
  // The same for a chunk that the build compiled. Bytecode is not checked: never for a site's.
  int LoadBytecode(lua_State* state, std::string_view code);
  // Runs a kept chunk and leaves its one result on the stack; call inside Protect.
  void CallChunk(lua_State* state, int chunk) const;

  // Gives the next calls the full limits of work again. Their time is counted from the first
  // thousand instructions on, by the clock of the calling thread: another thread must call this
  // first. Most calls are shorter, and need not ask the system for the time.
  void Renew();
  // Counts work of a function that is not Lua; an error of Lua when the limit is hit.
  void Charge(lua_State* state, std::int64_t work);
  // Runs `body` without counting its time.
  void OffTheClock(const std::function<void()>& body);

  static Sandbox& Of(lua_State* state);

  RunContext* context = nullptr;  // of the run in progress; see run_context.h

 private:
  enum class Refused { kNothing, kMemory, kText, kTurnover };

  static void* Allocate(void* self, void* block, std::size_t old_size, std::size_t new_size);
  static void CountHook(lua_State* state, lua_Debug* record);
  std::string ErrorText(int status) const;

  SandboxLimits limits_;
  ScriptHeap heap_;  // of the whole state, which has nothing else to be closed
  lua_State* state_ = nullptr;
  std::size_t alive_bytes_ = 0;
  std::size_t turnover_bytes_ = 0;
  Refused refused_ = Refused::kNothing;  // why the last block was not given
  int refusals_ = 0;
  std::int64_t work_left_ = 0;
  double cpu_deadline_ = 0;  // 0: the time is not yet counted
};

}  // namespace advise
