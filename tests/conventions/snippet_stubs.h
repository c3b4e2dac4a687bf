// What snippets of fixes in C++ are compiled against: the calls of CUDA, its libraries, NCCL and
// MPI that they make, as those are declared, and the names that a snippet takes from the program
// around it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <thread>
#include <utility>

// ---- CUDA C++

#define __global__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)

using std::min;

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_of, unsigned y_of = 1, unsigned z_of = 1) : x(x_of), y(y_of), z(z_of) {}
};
template <typename T, typename V>
T atomicAdd(T* at, V value);
extern const dim3 threadIdx, blockIdx, blockDim, gridDim;
struct float4 {
  float x, y, z, w;
};
void __syncthreads();
void __threadfence();
void __threadfence_block();
int __reduce_add_sync(unsigned mask, int value);
void __syncwarp(unsigned mask = 0xffffffffU);
void __pipeline_memcpy_async(void* to_shared, const void* from_global, std::size_t size,
                             std::size_t zero_fill = 0);
void __pipeline_commit();

// ---- cuRAND, on the host

enum curandRngType { CURAND_RNG_PSEUDO_DEFAULT };
using curandGenerator_t = struct curandGenerator*;
int curandCreateGenerator(curandGenerator_t* generator, curandRngType kind);
int curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed);
int curandGenerateUniform(curandGenerator_t generator, float* numbers, std::size_t count);
extern curandGenerator_t generator;
extern unsigned long long seed;
extern float* numbers;

// ---- cuRAND, on the device

struct curandStatePhilox4_32_10_t {};
void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                 curandStatePhilox4_32_10_t* state);
float4 curand_uniform4(curandStatePhilox4_32_10_t* state);

// ---- The runtime

enum cudaError_t : int {};
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
using cudaMemPool_t = struct CUmemPoolHandle_st*;
struct cudaGraphExecUpdateResultInfo {};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };
constexpr int cudaCpuDeviceId = -1;
enum cudaMemoryAdvise { cudaMemAdviseSetReadMostly, cudaMemAdviseSetPreferredLocation };
constexpr unsigned cudaStreamNonBlocking = 1, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;

// What <<<…>>> takes.
void LaunchConfiguration(dim3 grid, dim3 block, std::size_t shared = 0,
                         cudaStream_t stream = nullptr);

cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
template <typename T>
cudaError_t cudaMalloc(T** pointer, std::size_t size);
template <typename T>
cudaError_t cudaMallocHost(T** pointer, std::size_t size, unsigned flags = 0);
template <typename T>
cudaError_t cudaMallocAsync(T** pointer, std::size_t size, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t count, cudaStream_t stream = nullptr);
cudaError_t cudaMemsetAsync(void* data, int value, std::size_t count,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemPrefetchAsync(const void* data, std::size_t count, int device,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* data, std::size_t count, cudaMemoryAdvise advice, int device);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
using cudaHostFn_t = void (*)(void*);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags = 0);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result);
using cudaGraphNode_t = struct CUgraphNode_st*;
struct cudaKernelNodeParams {};
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
template <typename Function>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Function function,
                                               std::size_t shared = 0, int limit = 0);
template <typename Function>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function function,
                                                          int threads, std::size_t shared);

// ---- The driver

using CUdeviceptr = unsigned long long;
constexpr unsigned CU_STREAM_WAIT_VALUE_GEQ = 0;
int cuStreamWaitValue32(cudaStream_t stream, CUdeviceptr address, std::uint32_t value,
                        unsigned flags);

// ---- Libraries

using cublasHandle_t = struct cublasContext*;
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasMath_t { CUBLAS_TF32_TENSOR_OP_MATH = 3 };
int cublasDgetrfBatched(cublasHandle_t handle, int n, double* const matrices[], int ld, int* pivots,
                        int* infos, int count);
int cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
int cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
int cublasDdot(cublasHandle_t handle, int n, const double* x, int step_x, const double* y,
               int step_y, double* result);
extern double *p, *q, *pq;
using cudnnConvolutionDescriptor_t = struct cudnnConvolutionStruct*;
enum cudnnMathType_t { CUDNN_DEFAULT_MATH = 0, CUDNN_FMA_MATH = 3 };
int cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution, cudnnMathType_t type);
int cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                              int m, int n, int k, const float* alpha, const float* a, int lda,
                              long long stride_a, const float* b, int ldb, long long stride_b,
                              const float* beta, float* c, int ldc, long long stride_c, int count);
namespace cub {
struct DeviceScan {
  template <typename In, typename Out, typename Count>
  static cudaError_t InclusiveSum(void* workspace, std::size_t& size, In in, Out out, Count count,
                                  cudaStream_t stream = nullptr);
};
}  // namespace cub
namespace nvcuda::wmma {
struct fragment {};
void mma_sync(fragment& d, const fragment& a, const fragment& b, const fragment& c);
}  // namespace nvcuda::wmma
namespace nvtx3 {
struct scoped_range {
  explicit scoped_range(const char* name);
};
}  // namespace nvtx3

using ncclComm_t = struct ncclComm*;
enum ncclDataType_t { ncclFloat };
enum ncclRedOp_t { ncclSum };
int ncclAllReduce(const void* in, void* out, std::size_t count, ncclDataType_t type,
                  ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream);
int ncclGroupStart();
int ncclGroupEnd();

// ---- MPI

struct MPI_Comm {
  operator ncclComm_t() const;  // snippets call both "comm"
};
struct MPI_Datatype {};
struct MPI_Op {};
struct MPI_Info {};
struct MPI_File {};
struct MPI_Status {};
using MPI_Request = struct MpiRequest*;
using MPI_Offset = long long;
extern const MPI_Comm MPI_COMM_WORLD;
extern const MPI_Datatype MPI_DOUBLE;
extern const MPI_Op MPI_MAX;
extern const MPI_Info MPI_INFO_NULL;
extern MPI_Status* const MPI_STATUS_IGNORE;
extern MPI_Status* const MPI_STATUSES_IGNORE;
constexpr int MPI_COMM_TYPE_SHARED = 1;
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made);
int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Ialltoall(const void* sent, int count, MPI_Datatype type, void* received, int more,
                  MPI_Datatype other, MPI_Comm comm, MPI_Request* request);
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request);
int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request);
int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* received,
                 int more, MPI_Datatype other, int from, int other_tag, MPI_Comm comm,
                 MPI_Status* status);
int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request);
int MPI_Start(MPI_Request* request);
int MPI_Wait(MPI_Request* request, MPI_Status* status);
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses);
int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op operation,
                   MPI_Comm comm, MPI_Request* request);
int MPI_Neighbor_alltoallv(const void* send, const int* send_counts, const int* send_offsets,
                           MPI_Datatype send_type, void* recv, const int* recv_counts,
                           const int* recv_offsets, MPI_Datatype recv_type, MPI_Comm comm);
int MPI_File_read_at_all(MPI_File file, MPI_Offset offset, void* data, int count, MPI_Datatype type,
                         MPI_Status* status);
int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void* data, int count,
                          MPI_Datatype type, MPI_Status* status);
int MPI_File_iwrite_at_all(MPI_File file, MPI_Offset offset, const void* data, int count,
                           MPI_Datatype type, MPI_Request* request);

// ---- The program around a snippet

struct Callable {
  template <typename... Arguments>
  void operator()(Arguments&&...) const {}
};
extern const Callable kernel, interior, boundary, independent, dependent, pack, pack_all, unpack,
    copy_pieces, process, train_step, advance;

extern cudaStream_t stream, second, copy_stream, comm_stream, compute_stream, producer, consumer,
    up, down;
extern cudaEvent_t event, ready, reduced, copied, produced;
void consume(void* frame);
extern void* frame;
extern cudaGraph_t graph;
extern cudaGraphExec_t executable;
extern cudaGraphExecUpdateResultInfo result;
extern MPI_Comm comm, node;
extern MPI_Request request, requests[2];
extern MPI_File file;
extern MPI_Offset offset;
extern cublasHandle_t handle;
extern cudnnConvolutionDescriptor_t convolution;
extern CUdeviceptr address;
extern int grid, block, block_size, edge, blocks, threads, device, from, to, peer, neighbor,
    local_rank;
extern int n, m, k, i, sms, x, y, x0, y0, tiles_n, tiles, count, total, n_fields, step, steps,
    batches;
extern std::size_t bytes;
extern float alpha, beta;
extern float *in, *out, *data, *a, *b, *c, *field, *fields, *buffer, *copy, *snapshot, *host,
    *device_data, *halo, *halo_in, *halo_out, *edges_in, *edges_out, *send, *recv, *send_device,
    *recv_device, *host_in, *host_out, *device_in, *device_out, *packed_host, *packed_device,
    *host_value, *value, *weights, *state, *src, *dst, *offsets, *parts, *pieces, *workspace;
extern double local, global;
extern int *send_counts, *send_offsets, *recv_counts, *recv_offsets;

struct Params {};
struct GpuTensor {
  float *in, *out;
  std::size_t count;
};
extern GpuTensor tensors[2];
struct BoundedQueue {
  void push(std::unique_ptr<int> item);
  std::unique_ptr<int> pop();
};
extern BoundedQueue queue;
std::unique_ptr<int> load_next();
int load(int index);
extern int batch;
