// Destroy and repair of thousands of grids of Morpion Solitaire on a GPU, one warp per grid (walk.hpp), as a shared library
// that src/rookery/games/morpion/replicas.py builds on request and calls.
//
// Every call brings all the grids and takes them back, 0.1 s of work later: so nothing is kept here, and a checkpoint is
// what the caller has. Compiled as C++ it does the same on the CPU, lane by lane, for tests:
//   nvcc -O3 -std=c++17 -arch=sm_90 --shared -Xcompiler -fPIC -o walk.so walk.cu      c++ -O2 -x c++ -shared -fPIC ...
#include <cstddef>

#include "walk.hpp"

namespace {

using namespace rookery::morpion::warp;

constexpr int kNumbers = kHoles * kTallies;

}  // namespace

extern "C" {

struct Batch {  // arrays of the caller, an entry for each walker; grids have kMoves moves
    int walkers, trials;
    u64 seed;
    Settings settings;
    u16 *grids, *best;
    int *lengths, *best_lengths;
    const u16* partners;
    const int* partner_lengths;
    u32* counters;
    const u32* accept;  // [walkers][kLosses]
    u32* tallies;       // [walkers][kHoles][kTallies], of this call
    u32* lost;          // [walkers], of this call
};

}  // extern "C"

namespace {

template <class W>
ROOKERY_WARP void walk_one(Scratch& scratch, const Board& board, const Batch& b, int i) {
    const std::size_t at = static_cast<std::size_t>(i) * kMoves;
    Walker walker = {b.grids + at, b.best + at, b.lengths[i], b.best_lengths[i], b.partners + at, b.partner_lengths[i],
                     stream_of(b.seed, i), b.counters[i], b.accept + i * kLosses, 0};
    walk<W>(scratch, board, b.settings, walker, b.trials);
    W::sync();
    LANES {
        if (lane < kNumbers) b.tallies[i * kNumbers + lane] = scratch.tallies[lane];
        if (lane == 0) {
            b.lengths[i] = walker.length;
            b.best_lengths[i] = walker.best_length;
            b.counters[i] = walker.counter;
            b.lost[i] = walker.lost;
        }
    }
}

}  // namespace

#if defined(__CUDACC__)

#include <cuda_runtime.h>

namespace {

constexpr int kWarps = 4;         // of a block
constexpr int kBlocksPerSm = 10;  // at once; that leaves 48 registers per thread

__global__ void __launch_bounds__(32 * kWarps, kBlocksPerSm) walk_all(Batch batch, const Board* board) {
    __shared__ Scratch scratch[kWarps];
    __shared__ Board own;
    for (int i = threadIdx.x; i < 128; i += blockDim.x) {
        own.cross[i] = board->cross[i];
        own.border[i] = board->border[i];
    }
    __syncthreads();
    const int warp = threadIdx.x >> 5, i = blockIdx.x * kWarps + warp;
    if (i < batch.walkers) walk_one<GpuWarp>(scratch[warp], own, batch, i);
}

const char* failure = "";

bool works(cudaError_t status) {
    if (status != cudaSuccess) failure = cudaGetErrorString(status);
    return status == cudaSuccess;
}

// A copy of one of the caller's arrays on the device, kept for the next call.
struct Buffer {
    void* memory = nullptr;
    std::size_t size = 0;

    template <class T>
    bool take(T*& array, std::size_t count) {  // array then points to the device
        const std::size_t bytes = count * sizeof(T);
        if (bytes > size) {
            if (memory && !works(cudaFree(memory))) return false;
            memory = nullptr;
            size = 0;
            if (!works(cudaMalloc(&memory, bytes))) return false;
            size = bytes;
        }
        const void* from = array;
        array = static_cast<T*>(memory);
        return works(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice));
    }
    bool give(void* to, std::size_t bytes) { return works(cudaMemcpy(to, memory, bytes, cudaMemcpyDeviceToHost)); }
};

Buffer buffers[11];

}  // namespace

extern "C" {

const char* morpion_error() { return failure; }

// Grids that are worked on at the same time; 0 after an error.
int morpion_capacity() {
    int device = 0, processors = 0, blocks = 0;
    if (!works(cudaGetDevice(&device)) ||
        !works(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device)) ||
        !works(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, walk_all, 32 * kWarps, 0))) {
        return 0;
    }
    return processors * blocks * kWarps;
}

// 0, or 1 after an error.
int morpion_walk(const Batch* caller) {
    Batch b = *caller;
    const std::size_t n = b.walkers;
    const Board fixed = make_board();
    const Board* board = &fixed;
    if (!buffers[0].take(b.grids, n * kMoves) || !buffers[1].take(b.best, n * kMoves) ||
        !buffers[2].take(b.lengths, n) || !buffers[3].take(b.best_lengths, n) ||
        !buffers[4].take(b.partners, n * kMoves) || !buffers[5].take(b.partner_lengths, n) ||
        !buffers[6].take(b.counters, n) || !buffers[7].take(b.accept, n * kLosses) ||
        !buffers[8].take(b.tallies, n * kNumbers) || !buffers[9].take(b.lost, n) || !buffers[10].take(board, 1)) {
        return 1;
    }
    walk_all<<<(b.walkers + kWarps - 1) / kWarps, 32 * kWarps>>>(b, board);
    if (!works(cudaGetLastError()) || !works(cudaDeviceSynchronize())) return 1;
    return buffers[0].give(caller->grids, n * kMoves * sizeof(u16)) &&
                   buffers[1].give(caller->best, n * kMoves * sizeof(u16)) &&
                   buffers[2].give(caller->lengths, n * sizeof(int)) &&
                   buffers[3].give(caller->best_lengths, n * sizeof(int)) &&
                   buffers[6].give(caller->counters, n * sizeof(u32)) &&
                   buffers[8].give(caller->tallies, n * kNumbers * sizeof(u32)) &&
                   buffers[9].give(caller->lost, n * sizeof(u32))
               ? 0
               : 1;
}

}  // extern "C"

#else

extern "C" {

const char* morpion_error() { return ""; }
int morpion_capacity() { return 8; }
int morpion_walk(const Batch* batch) {
    static Scratch scratch;
    static const Board board = make_board();
    for (int i = 0; i < batch->walkers; ++i) walk_one<CpuWarp<false>>(scratch, board, *batch, i);
    return 0;
}

}  // extern "C"

#endif
