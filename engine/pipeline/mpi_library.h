// What libadvise_mpi.so offers, in C, so that it can be loaded at run time.
#pragma once

#include <cstddef>

extern "C" {

// Joins the other processes. Returns 0, or else an MPI error.
using AdviseMpiStart = int (*)(int* number, int* count);
// Hands `bytes` to process 0, which gets those of every process through `take`, in order.
using AdviseMpiTake = void (*)(void* into, int process, const char* bytes, std::size_t size);
using AdviseMpiGather = int (*)(const char* bytes, std::size_t size, AdviseMpiTake take,
                                void* into);
using AdviseMpiFinish = void (*)();
}
