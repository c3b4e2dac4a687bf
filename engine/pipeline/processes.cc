#include "engine/pipeline/processes.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "engine/pipeline/mpi_library.h"

namespace advise {
namespace {

// Whether a launcher started this process as one of several.
bool OneOfSeveral() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* size = std::getenv(name);
    if (size != nullptr && std::atoi(size) > 1) return true;
    if (size != nullptr) return false;
  }
  // Slurm may set up PMIx for a step of one task, too.
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (tasks != nullptr && std::atoi(tasks) == 1) return false;
  return std::getenv("PMIX_RANK") != nullptr;
}

std::string Folder() {
  std::array<char, 4096> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size() - 1);
  return size <= 0 ? "" : std::filesystem::path(path.data()).parent_path().string();
}

// Whether this is the program without a dynamic linker: what it loads would bring a second C
// library.
bool AllInOneFile() {
  const auto asks_for_linker = [](dl_phdr_info* program, std::size_t, void* asks) {
    *static_cast<bool*>(asks) =
        std::any_of(program->dlpi_phdr, program->dlpi_phdr + program->dlpi_phnum,
                    [](const auto& part) { return part.p_type == PT_INTERP; });
    return 1;  // the program itself comes first
  };
  bool asks = true;
  dl_iterate_phdr(asks_for_linker, &asks);
  return !asks;
}

template <typename Function>
Function Find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

Processes& Processes::All() {
  static Processes processes;
  return processes;
}

Processes::Processes() {
  if (!OneOfSeveral()) return;
  if (AllInOneFile()) {
    problem_ =
        "started by an MPI launcher, but this program holds its C library and cannot load MPI";
    return;
  }
  const std::string folder = Folder();
  std::string tried;
  for (const std::string& path :
       {folder + "/libadvise_mpi.so", folder + "/../lib/advise/libadvise_mpi.so"}) {
    library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) break;
    const char* why = dlerror();
    if (why != nullptr && tried.empty()) tried = why;
  }
  if (library_ == nullptr) {
    problem_ = "started by an MPI launcher, but without its MPI library: " + tried;
    return;
  }
  const auto start = Find<AdviseMpiStart>(library_, "advise_mpi_start");
  if (start == nullptr || start(&number_, &count_) != 0) {
    problem_ = "MPI could not be started";
    number_ = 0;
    count_ = 1;
  }
}

std::vector<std::string> Processes::Gather(const std::string& own) const {
  std::vector<std::string> parts(number_ == 0 ? static_cast<std::size_t>(count_) : 0);
  if (!many()) {
    parts[0] = own;
    return parts;
  }
  const auto gather = Find<AdviseMpiGather>(library_, "advise_mpi_gather");
  const auto take = [](void* into, int process, const char* bytes, std::size_t size) {
    (*static_cast<std::vector<std::string>*>(into))[static_cast<std::size_t>(process)].assign(bytes,
                                                                                              size);
  };
  gather(own.data(), own.size(), take, &parts);
  return parts;
}

void Processes::Leave() {
  if (library_ == nullptr) return;
  const auto finish = Find<AdviseMpiFinish>(library_, "advise_mpi_finish");
  if (finish != nullptr) finish();
  library_ = nullptr;  // stays loaded: MPI may have threads of its own
}

}  // namespace advise
