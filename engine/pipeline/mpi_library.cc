#include "engine/pipeline/mpi_library.h"

#include <mpi.h>

#include <algorithm>
#include <string>

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 28;  // MPI counts are int
constexpr int kTag = 7;

}  // namespace

extern "C" {

int advise_mpi_start(int* number, int* count) {
  int started = 0;
  MPI_Initialized(&started);
  const int problem = started != 0 ? MPI_SUCCESS : MPI_Init(nullptr, nullptr);
  if (problem != MPI_SUCCESS) return problem;
  MPI_Comm_rank(MPI_COMM_WORLD, number);
  MPI_Comm_size(MPI_COMM_WORLD, count);
  return MPI_SUCCESS;
}

int advise_mpi_gather(const char* bytes, std::size_t size, AdviseMpiTake take, void* into) {
  int number = 0;
  int count = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  if (number != 0) {
    unsigned long long length = size;
    MPI_Send(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, kTag, MPI_COMM_WORLD);
    for (std::size_t at = 0; at < size; at += kPiece) {
      MPI_Send(bytes + at, static_cast<int>(std::min(kPiece, size - at)), MPI_BYTE, 0, kTag,
               MPI_COMM_WORLD);
    }
    return MPI_SUCCESS;
  }
  take(into, 0, bytes, size);
  for (int process = 1; process < count; ++process) {
    unsigned long long length = 0;
    MPI_Recv(&length, 1, MPI_UNSIGNED_LONG_LONG, process, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::string part(length, '\0');
    for (std::size_t at = 0; at < part.size(); at += kPiece) {
      MPI_Recv(part.data() + at, static_cast<int>(std::min(kPiece, part.size() - at)), MPI_BYTE,
               process, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    take(into, process, part.data(), part.size());
  }
  return MPI_SUCCESS;
}

void advise_mpi_finish() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended == 0) MPI_Finalize();
}

}  // extern "C"
