---@meta
-- What rules may call, for the Lua language server: set "Lua.workspace.library" to this folder.
-- The functions themselves are in engine/script/api.cc. Annotate the parameters of a rule's functions to have fact names
-- completed and checked: ---@param f Facts

---True when `x` is at least `threshold`; `advise why` shows the comparison.
---@param x number
---@param threshold number
---@return boolean
function at_least(x, threshold) end

---True when `x` is at most `threshold`; `advise why` shows the comparison.
---@param x number
---@param threshold number
---@return boolean
function at_most(x, threshold) end

---True when `low <= x <= high`; `advise why` shows the comparison.
---@param x number
---@param low number
---@param high number
---@return boolean
function between(x, low, high) end

---`part / whole`, 0 when `whole` is 0.
---@param part number
---@param whole number
---@return number
function share(part, whole) end

---The sum of a column; 0 for no rows.
---@param rows Rows|table[]
---@param column string
---@return number
function sum(rows, column) end

---The `n` rows with the largest value in `column`, largest first.
---@param rows Rows|table[]
---@param column string
---@param n number
---@return table[]
function top(rows, column, n) end

---The rows for which `test` is true.
---@param rows Rows|table[]
---@param test fun(row: table): boolean
---@return table[]
function filter(rows, test) end

---Whether the whole name matches: `*` any run of characters, `?` one; case does not matter.
---@param name string
---@param glob string
---@return boolean
function matches(name, glob) end

---Whether `part` stands in `text`; case matters.
---@param text string
---@param part string
---@return boolean
function contains(text, part) end

---Whether `text` begins with `part`; case matters.
---@param text string
---@param part string
---@return boolean
function starts_with(text, part) end

---A read-only array of records.
---@class Rows
---@field [integer] table<string, number|string>

---Time on devices.
---@class Spans
---@field time number  summed length in ns
---@field count number  how many pieces

---What a fix changes in the run; hand it to saving().
---@class Remedy

---What saving() returns.
---@class Saving
---@field claims? Spans|Spans[]
---@field remedy? Remedy|Remedy[]
---@field part? number
---@field confidence? number
---@field confidence_from? string  what makes it so sure
---@field basis string
-- ---- Facts: made by scripts/make-docs.sh from the program; do not edit below.

---@class Facts
---@field window Facts.window
---@field run Facts.run
---@field budget Facts.budget
---@field idle Facts.idle
---@field steps Facts.steps
---@field copy Facts.copy
---@field sync Facts.sync
---@field launch Facts.launch
---@field kernel Facts.kernel
---@field precision Facts.precision
---@field memory Facts.memory
---@field input Facts.input
---@field host Facts.host
---@field comm Facts.comm
---@field rank Facts.rank
---@field capture Facts.capture
---@field hw Facts.hw
---@field op Facts.op
---@field counter Facts.counter
---@field roofline Facts.roofline
---@field sample Facts.sample
---@field monitor Facts.monitor
---@field topology Facts.topology
---@field nccl Facts.nccl
---@field work Facts.work
---@field driver Facts.driver
---@field gemm Facts.gemm
---@field phase Facts.phase
---@field link Facts.link
---@field nic Facts.nic
---@field collective Facts.collective
---@field scale Facts.scale
---@field family Facts.family
---@field calls Facts.calls
---@field ranges Facts.ranges
---@field os Facts.os
---@field graph Facts.graph
---@field memset Facts.memset
---@field efficiency Facts.efficiency
---@field environment Facts.environment
---@field cluster Facts.cluster
---@field strategy Facts.strategy
---@field pipeline Facts.pipeline
---@field summary Facts.summary

---@class Facts.window
---@field time number  ns: Length of the analysed window.
---@field device_time number  ns: Length of the window times the number of devices that did work.
---@field supports_verdict boolean  flag: Whether the capture holds enough like work to judge a run by.
---@field reason string  name: Why the capture supports no verdict; absent when it does.

---@class Facts.run
---@field devices number  count: Devices that did work.
---@field devices_listed number  count: Devices that the report lists, used or not.
---@field processes number  count: Processes that launched GPU work.
---@field ops number  count: GPU operations in the window.
---@field cpu_cores number  count: Logical CPUs of the host.

---@class Facts.budget
---@field compute number  ns: Time in which a compute kernel or a whole graph ran.
---@field comm_exposed number  ns: Time in which only communication kernels (and copies) ran.
---@field copy_exposed number  ns: Time in which only copies ran.
---@field memset_exposed number  ns: Time in which only memsets ran.
---@field idle number  ns: Time in which nothing ran on the device.

---@class Facts.idle
---@field data_loading number  ns: Idle while the launching thread loaded data or waited for a loader.
---@field host_sync number  ns: Idle while the launching thread was inside a synchronising call.
---@field allocation number  ns: Idle while the launching thread allocated, freed or registered memory.
---@field jit_or_module_load number  ns: Idle while code was compiled or loaded.
---@field file_io number  ns: Idle while the launching thread was inside file calls.
---@field host_wait number  ns: Idle while the launching thread was blocked in the OS.
---@field launch number  ns: Idle inside launching calls, and launch latency.
---@field host_compute number  ns: Idle while the launching thread ran code that the report does not show.
---@field peer_wait number  ns: Idle while launched work waited for another device.
---@field profiler_overhead number  ns: Idle while the profiler itself worked.
---@field no_work_queued number  ns: Idle with no thread about to launch anything.
---@field unknown number  ns: Idle without a visible cause.

---@class Facts.steps
---@field count number  count: Steady steps in the window; absent when no steps were found.
---@field median number  ns: Median length of a steady step.
---@field source string  name: How steps were found: annotation, range or period.
---@field warmup Facts.steps.warmup
---@field jitter number  share: Interquartile range of the step lengths over their median.
---@field outliers Facts.steps.outliers
---@field stall Facts.steps.stall
---@field forward Facts.steps.forward
---@field backward Facts.steps.backward
---@field drift number  share: Last third of the steady steps over the first third, less 1.
---@field kinds Facts.steps.kinds

---@class Facts.steps.warmup
---@field count number  count: Leading steps left out as warm-up.
---@field excess number  ns: What the warm-up steps took beyond the median step.
---@field cause string  name: What most of the warm-up's excess was spent on, in words.

---@class Facts.steps.outliers
---@field count number  count: Steps far slower than the rest.
---@field excess number  ns: What these steps took beyond the median step.
---@field rows Rows  rows: The slowest steps: index, time, median, what (the largest difference to the median step).
---@field lost Spans  spans: Idle time of these steps beyond that of the median step.
---@field remedy Remedy  remedy: The host work of the excess is gone.

---@class Facts.steps.stall
---@field every number  count: Every how many steps a slow one comes; absent when slow steps are not periodic.
---@field excess number  ns: What the periodic slow steps took beyond the median step.
---@field what string  name: What fills the excess: a range name, a phase, file calls …
---@field lost Spans  spans: Idle time of the periodic slow steps beyond that of the median step.
---@field remedy Remedy  remedy: The host work of the excess is gone.

---@class Facts.steps.forward
---@field time number  ns: GPU time a step of work launched in forward ranges (or before backward).
---@field host_time number  ns: Host time a step inside forward ranges.

---@class Facts.steps.backward
---@field time number  ns: GPU time a step of work launched in backward ranges.
---@field host_time number  ns: Host time a step inside backward ranges.

---@class Facts.copy
---@field count number  count: Copies in the window.
---@field bytes number  bytes: Bytes of all copies.
---@field time number  ns: Time in which at least one copy ran.
---@field exposed Spans  spans: Time in which only copies ran.
---@field h2d Facts.copy.h2d
---@field d2h Facts.copy.d2h
---@field d2d Facts.copy.d2d
---@field p2p Facts.copy.p2p
---@field groups Rows  rows: Copies by direction and memory kind: direction, memory, count, bytes, time, bandwidth, exposed.
---@field pageable Facts.copy.pageable
---@field blocking Facts.copy.blocking
---@field small Facts.copy.small
---@field slow Facts.copy.slow
---@field repeated Facts.copy.repeated
---@field roundtrip Facts.copy.roundtrip
---@field migration Facts.copy.migration
---@field through_host Facts.copy.through_host
---@field serial Facts.copy.serial
---@field device Facts.copy.device
---@field peer Facts.copy.peer
---@field duplex Facts.copy.duplex

---@class Facts.copy.h2d
---@field count number  count: Copies from host to device.
---@field bytes number  bytes: Bytes copied from host to device.
---@field time number  ns: Summed time of host-to-device copies.

---@class Facts.copy.d2h
---@field count number  count: Copies from device to host.
---@field bytes number  bytes: Bytes copied from device to host.
---@field time number  ns: Summed time of device-to-host copies.

---@class Facts.copy.d2d
---@field count number  count: Copies inside a device.
---@field bytes number  bytes: Bytes copied inside a device.
---@field time number  ns: Summed time of copies inside a device.

---@class Facts.copy.p2p
---@field count number  count: Copies between devices.
---@field bytes number  bytes: Bytes copied between devices.

---@class Facts.copy.pageable
---@field count number  count: Asynchronous copies from or to pageable host memory, small ones left out.
---@field bytes number  bytes: Their bytes.
---@field time number  ns: Their summed time.
---@field bandwidth number  bytes_per_s: Their bytes over their time.
---@field per_step number  count: How many a step.
---@field lost Spans  spans: Exposed time of these copies, and the idle time until the host is ahead again.
---@field remedy Remedy  remedy: Pinned rate, host not held.

---@class Facts.copy.blocking
---@field count number  count: Copies by calls that hold the host until the data has moved; tiny ones left out.
---@field bytes number  bytes: Their bytes.
---@field time number  ns: Their summed time.
---@field per_step number  count: How many a step.
---@field pageable_share number  share: Share of their bytes that lie in pageable memory.
---@field lost Spans  spans: Exposed time of these copies, and the idle time until the host is ahead again.
---@field remedy Remedy  remedy: Asynchronous, pinned, host not held.
---@field bandwidth number  bytes_per_s: Bytes of the blocking copies over their time.

---@class Facts.copy.small
---@field count number  count: Small host-device copies that come in trains (several in a row, one direction).
---@field per_step number  count: How many a step.
---@field bytes number  bytes: Their bytes.
---@field median_bytes number  bytes: Their median size.
---@field lost Spans  spans: Exposed time of these copies and the idle time between them.
---@field remedy Remedy  remedy: One copy in place of each train.
---@field time number  ns: Summed time of the small copies in trains.
---@field bandwidth number  bytes_per_s: Their bytes over their time.

---@class Facts.copy.slow
---@field count number  count: Large pinned copies far below the rate of the link.
---@field bytes number  bytes: Their bytes.
---@field time number  ns: Their summed time.
---@field bandwidth number  bytes_per_s: Their bytes over their time.
---@field lost Spans  spans: Their exposed time.
---@field remedy Remedy  remedy: The same copies at the rate of the link.
---@field per_step number  count: Slow large copies a step.

---@class Facts.copy.repeated
---@field per_step number  count: Uploads a step whose sizes come back in each step, where a batch does not explain so many.
---@field bytes_per_step number  bytes: Their bytes a step.
---@field bandwidth number  bytes_per_s: Their bytes over their time.
---@field memory string  name: pinned, pageable or mixed.
---@field lost Spans  spans: Their exposed time and the idle time they cause.
---@field remedy Remedy  remedy: These uploads are gone.
---@field count number  count: Recurring uploads in the window.
---@field bytes number  bytes: Their bytes.
---@field time number  ns: Their summed time.

---@class Facts.copy.roundtrip
---@field count number  count: Downloads whose bytes are uploaded again soon after.
---@field per_step number  count: How many a step.
---@field bytes number  bytes: Bytes that go down and come back.
---@field lost Spans  spans: Exposed time of both ways and the idle time between.
---@field remedy Remedy  remedy: Both copies and the host work between are gone.
---@field time number  ns: Summed time of both ways of the round trips.
---@field bandwidth number  bytes_per_s: Bytes of the round trips over their time.

---@class Facts.copy.migration
---@field count number  count: Unified-memory migrations.
---@field bytes number  bytes: Their bytes.
---@field time number  ns: Their summed time.
---@field gpu_faults number  count: GPU page faults; absent when not captured.
---@field lost Spans  spans: Exposed migrations, and kernel time with a migration inside.
---@field remedy Remedy  remedy: The data is already there.
---@field bandwidth number  bytes_per_s: Bytes of the migrations over their time.
---@field per_step number  count: Migrations a step.
---@field back_bytes number  bytes: Bytes of unified memory that migrate to the host.

---@class Facts.copy.through_host
---@field count number  count: Downloads from one device whose bytes are uploaded to another soon after.
---@field bytes number  bytes: Their bytes.
---@field lost Spans  spans: Their exposed time.
---@field remedy Remedy  remedy: One peer copy at twice the rate in place of two.
---@field time number  ns: Summed time of the copies through the host.
---@field bandwidth number  bytes_per_s: Their bytes over their time.
---@field per_step number  count: How many a step.

---@class Facts.copy.serial
---@field lost Spans  spans: Exposed time of pinned asynchronous copies that run on the stream of the kernels.
---@field bytes number  bytes: Their bytes.
---@field per_step number  count: How many a step.
---@field remedy Remedy  remedy: The copies run on a stream of their own beside the kernels.
---@field count number  count: Pinned asynchronous copies on the stream of the kernels.
---@field time number  ns: Their summed time.
---@field bandwidth number  bytes_per_s: Their bytes over their time.

---@class Facts.sync
---@field count number  count: Synchronising calls of the steady loop (of the window when no steps were found).
---@field time number  ns: Time the launching threads spent in them.
---@field loop Facts.sync.loop
---@field item Facts.sync.item
---@field forward Facts.sync.forward
---@field default_stream Facts.sync.default_stream
---@field memset Facts.sync.memset
---@field event_chain Facts.sync.event_chain
---@field busy_wait Facts.sync.busy_wait
---@field optimizer Facts.sync.optimizer
---@field backward Facts.sync.backward

---@class Facts.sync.loop
---@field count number  count: Device, stream and event synchronisations that are not part of a tiny read-back.
---@field per_step number  count: How many a step.
---@field name string  name: The call that costs most.
---@field lost Spans  spans: Idle time after them until the host is ahead again.
---@field remedy Remedy  remedy: These calls do not wait.

---@class Facts.sync.item
---@field count number  count: Tiny copies between device and host that the host waits for.
---@field per_step number  count: How many a step.
---@field median_bytes number  bytes: Their median size.
---@field direction string  name: d2h, h2d or both.
---@field lost Spans  spans: Exposed and idle time from the wait until the host is ahead again.
---@field remedy Remedy  remedy: The host does not wait for them.
---@field operator string  name: The operator that most waits for tiny copies come from.
---@field source string  name: The line of the program that most of them come from.

---@class Facts.sync.forward
---@field count number  count: Waits (of sync.loop or sync.item) inside forward ranges.
---@field per_step number  count: How many a step.
---@field lost Spans  spans: The part of their loss.
---@field remedy Remedy  remedy: These calls do not wait.
---@field operator string  name: The operator that most waits in the forward pass come from.
---@field source string  name: The line of the program that most of them come from.

---@class Facts.sync.default_stream
---@field kernels number  count: Kernels on the legacy default stream while other streams are in use.
---@field share number  share: Their share of the GPU's compute time.
---@field other_streams number  count: Other (blocking) streams with kernels of the same process.
---@field lost Spans  spans: Compute time of the kernels that hold each other up this way and leave room for each other.
---@field remedy Remedy  remedy: These kernels run beside the others.

---@class Facts.sync.memset
---@field count number  count: Memset calls that hold the host.
---@field lost Spans  spans: Idle and exposed time they cause.
---@field remedy Remedy  remedy: They do not hold the host.

---@class Facts.sync.event_chain
---@field count number  count: Waits of one stream for another after which the streams never ran side by side.
---@field streams number  count: Streams that take turns.
---@field lost Spans  spans: Work of the shorter streams that could run beside the longest one.
---@field remedy Remedy  remedy: The streams run side by side.

---@class Facts.sync.busy_wait
---@field time number  ns: Time a launching thread spent in synchronising calls while its device was not computing.

---@class Facts.launch
---@field count number  count: Launching calls of kernels and graphs in the window.
---@field kernels_per_step number  count: Kernels a step.
---@field queue_empty number  share: Share of the launches that found the device with nothing left to do.
---@field call Facts.launch.call
---@field kernel Facts.launch.kernel
---@field gap Facts.launch.gap
---@field tiny Facts.launch.tiny
---@field bound Facts.launch.bound
---@field sequence Facts.launch.sequence
---@field threads number  count: Threads that launch at the same time on one device or process.
---@field slow Facts.launch.slow
---@field trains Facts.launch.trains
---@field framework Facts.launch.framework
---@field waiting Facts.launch.waiting

---@class Facts.launch.call
---@field median number  ns: Median length of a launching call that was not held back.

---@class Facts.launch.kernel
---@field median number  ns: Median kernel time.

---@class Facts.launch.gap
---@field median number  ns: Median of the short gaps between kernels.

---@class Facts.launch.tiny
---@field share number  share: Share of the kernels that run less than 10 us.
---@field time number  ns: Their summed time.

---@class Facts.launch.bound
---@field lost Spans  spans: Short gaps between kernels, spread over the step, that launching makes.
---@field remedy Remedy  remedy: The launches are in a graph: one call, no code between.

---@class Facts.launch.sequence
---@field length number  count: Kernels in the sequence that repeats every step.
---@field same number  share: Share of the steps with exactly that sequence of kernels and grids.
---@field breaks number  count: Waits, allocations and pageable copies inside a step that a graph capture would not allow (median a step).

---@class Facts.launch.slow
---@field median number  ns: Median launching call, when launch calls are slow though the queue is not full.
---@field contended number  share: Share of slow launch calls that overlap a CUDA call of another thread of the process.
---@field lost Spans  spans: Idle time inside these calls.
---@field remedy Remedy  remedy: Launch calls at the usual cost.

---@class Facts.launch.trains
---@field count number  count: Trains of tiny device copies or memsets back to back.
---@field ops number  count: Ops in them, a step.
---@field lost Spans  spans: Their time and the gaps between.
---@field remedy Remedy  remedy: One op in place of each train.

---@class Facts.launch.framework
---@field lost Spans  spans: Idle time in gaps with more host code than launching, spread over the step.

---@class Facts.kernel
---@field count number  count: Kernels in the window.
---@field time number  ns: Summed kernel time.
---@field top Rows|Facts.kernel.top  rows: Kernels by time: name, class, count, time, share (of kernel time), median.
---@field classes Rows  rows: Classes by time: class, count, time, share.
---@field small_grid Facts.kernel.small_grid
---@field tail Facts.kernel.tail
---@field elementwise Facts.kernel.elementwise
---@field attention Facts.kernel.attention
---@field optimizer Facts.kernel.optimizer
---@field layout Facts.kernel.layout
---@field concurrency number  num: Mean number of kernels running while any runs.
---@field narrow Facts.kernel.narrow
---@field streams number  count: Streams with kernels.
---@field spilling Facts.kernel.spilling
---@field gemm_train Facts.kernel.gemm_train
---@field repeated Facts.kernel.repeated
---@field varying Facts.kernel.varying
---@field slowing Facts.kernel.slowing
---@field partial_warp Facts.kernel.partial_warp
---@field tiny_block Facts.kernel.tiny_block

---@class Facts.kernel.top
---@field name string  name: Name of the kernel with most time.
---@field share number  share: Its share of the kernel time.

---@class Facts.kernel.small_grid
---@field share number  share: Share of the compute time in kernels with fewer blocks than SMs and nothing beside them.
---@field median_blocks number  count: Median blocks of these kernels, weighted by time.
---@field sms number  count: SMs of the device.
---@field rows Rows  rows: Such kernels by time: name, blocks, count, time.
---@field lost Spans  spans: Time of these kernels.
---@field fill number  share: Blocks over SMs of these kernels, weighted by time.

---@class Facts.kernel.tail
---@field share number  share: Share of the compute time that the last partial wave of large kernels may waste (upper bound).
---@field counted number  share: Part of these kernels' time whose waves a kernel profiler counted; those of the rest are worked out from threads a block, which gives too few waves where registers or shared memory allow fewer blocks.
---@field rows Rows  rows: Such kernels: name, waves, count, time.
---@field lost Spans  spans: Time of these kernels.

---@class Facts.kernel.elementwise
---@field share number  share: Share of the compute time in unfused element-wise and copy kernels.
---@field count number  count: Such kernels, a step.
---@field runs number  count: Runs of two or more such kernels in a row, a step.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: Runs of them become one kernel each.

---@class Facts.kernel.attention
---@field unfused Facts.kernel.attention.unfused

---@class Facts.kernel.attention.unfused
---@field count number  count: matmul-softmax-matmul sequences, a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: A fused kernel that does not write the scores.

---@class Facts.kernel.optimizer
---@field per_step number  count: Small kernels a step of the optimizer phase (or of a per-tensor update pattern).
---@field share number  share: Share of the step that they span.
---@field lost Spans  spans: Their time and the gaps between.
---@field remedy Remedy  remedy: Few multi-tensor kernels in their place.

---@class Facts.kernel.layout
---@field share number  share: Share of the compute time in transposes and layout conversions.
---@field count number  count: Such kernels, a step.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.

---@class Facts.kernel.narrow
---@field share number  share: Share of the compute time in kernels that leave room for others and run alone.

---@class Facts.kernel.spilling
---@field share number  share: Share of the compute time in kernels that use local memory.
---@field rows Rows  rows: Such kernels: name, local_bytes, registers, count, time.

---@class Facts.precision
---@field matrix Facts.precision.matrix
---@field fp32 Facts.precision.fp32
---@field tensor Facts.precision.tensor
---@field cast Facts.precision.cast
---@field unaligned Facts.precision.unaligned
---@field fp64 Facts.precision.fp64
---@field bf16 Facts.precision.bf16
---@field half Facts.precision.half
---@field fp8 Facts.precision.fp8

---@class Facts.precision.matrix
---@field time number  ns: Time of matrix and convolution kernels.
---@field share number  share: Its share of the compute time.

---@class Facts.precision.fp32
---@field share number  share: Share of the compute time in FP32 matrix kernels without tensor cores.
---@field count number  count: Such kernels, a step.
---@field speedup number  num: Peak tensor rate over peak FP32 rate of the device; absent without tensor cores or for an unknown device.
---@field top string  name: The one with most time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: The same kernels on tensor cores, bounded by what memory allows.

---@class Facts.precision.tensor
---@field sampled number  share: Mean of the sampled tensor-pipe activity while matrix and convolution kernels ran.
---@field samples number  count: Samples that fell into that time.
---@field active number  share: Activity of the tensor pipes while matrix and convolution kernels ran: from samples, else from counters of such kernels.
---@field active_from string  name: samples or counters.
---@field share number  share: Share of the matrix time in kernels known to use tensor cores.

---@class Facts.precision.cast
---@field share number  share: Share of the compute time in cast and dtype-copy kernels.
---@field per_step number  count: Such kernels, a step.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: Three of four are gone.
---@field count number  count: Cast and dtype-copy kernels, a step (as per_step).

---@class Facts.precision.unaligned
---@field share number  share: Share of the compute time in matrix kernels chosen for odd sizes.
---@field count number  count: Such kernels, a step.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: The same at the rate of aligned kernels.

---@class Facts.memory
---@field alloc Facts.memory.alloc
---@field peak number  bytes: Highest device memory in use; absent without memory events.
---@field reserved_peak number  bytes: Most that a framework's caching allocator held of a device's memory.
---@field allocated_peak number  bytes: Most that its tensors took at a time.
---@field capacity number  bytes: Memory of the device.
---@field growth_per_step number  bytes: Median rise of the level at step ends.
---@field growth_steps number  share: Share of the steps that end higher than the one before.
---@field free_burst Facts.memory.free_burst

---@class Facts.memory.alloc
---@field count number  count: Device and pinned-host allocations and frees in the window.
---@field per_step number  count: How many a step.
---@field time number  ns: Host time in them.
---@field name string  name: The call that costs most.
---@field lost Spans  spans: Idle time in them and until the host is ahead again.
---@field remedy Remedy  remedy: These calls are gone.

---@class Facts.input
---@field lost Spans  spans: Idle time of gaps in which the launching thread loads data or waits for it.
---@field own number  ns: Part in which the launching thread itself loads (reads, decodes).
---@field waiting number  ns: Part in which it waits for a loader.
---@field workers number  count: Loader worker processes or threads seen.
---@field workers_busy number  share: Share of the window that the workers are at work; absent when not seen.
---@field steps_affected number  share: Share of the steps with a gap of this kind.
---@field load Facts.input.load
---@field file Facts.input.file
---@field map Facts.input.map
---@field after_gpu number  share: Share of the loads that begin only after the GPU finished the step.
---@field loader string  name: own or workers: what the framework's loader says of itself; empty when it does not.
---@field background boolean  flag: A thread or process beside the launching one loads data.
---@field remedy Remedy  remedy: Batches are there in time, as far as parallel loading can make it so.

---@class Facts.input.load
---@field count number  count: Loads (one a step) on the launching thread.
---@field median number  ns: Median time of a load or of a wait for one.
---@field max number  ns: Longest.
---@field slow_count number  count: Loads of more than three times the median.
---@field slow_excess number  ns: What the slow loads took beyond the median.
---@field slow_lost Spans  spans: Idle time of the slow loads.
---@field slow_remedy Remedy  remedy: Slow loads take as long as the median one.

---@class Facts.input.file
---@field share number  share: Share of the load time inside file calls (of the launching thread, or of the workers).

---@class Facts.input.map
---@field time number  ns: Idle while the launching thread maps or unmaps memory.
---@field lost Spans  spans: That idle time.
---@field remedy Remedy  remedy: The calls are gone.

---@class Facts.host
---@field jit Facts.host.jit
---@field lock Facts.host.lock
---@field compute Facts.host.compute
---@field preempted number|Facts.host.preempted  ns: Idle while the launching thread was ready but not on a CPU; absent without scheduling events.
---@field gpu_processes number  count: Most processes with work on one device.
---@field gpu_switch Facts.host.gpu_switch
---@field cpu_moves number  num: How often a second a launching thread wakes up on another CPU; absent without scheduling events.
---@field sleep Facts.host.sleep
---@field network Facts.host.network
---@field file_write Facts.host.file_write
---@field os_wait Facts.host.os_wait

---@class Facts.host.jit
---@field count number  count: Module loads and compilations in the window.
---@field time number  ns: Host time in them.
---@field per_step number  count: How many a step.
---@field lost Spans  spans: Idle time in them.
---@field remedy Remedy  remedy: They are gone.

---@class Facts.host.lock
---@field count number  count: Lock waits of launching threads inside gaps.
---@field lost Spans  spans: Idle time in them.
---@field remedy Remedy  remedy: No lock waits.

---@class Facts.host.compute
---@field lost Spans  spans: Idle time in long gaps of the loop in which the launching thread runs unseen code.
---@field remedy Remedy  remedy: That code runs elsewhere, or while the GPU is at work.
---@field share number  share: Share of the window.
---@field ranges Rows  rows: Innermost named ranges around that time: name, time.

---@class Facts.host.preempted
---@field lost Spans  spans: That idle time.

---@class Facts.host.gpu_switch
---@field lost Spans  spans: Idle time between ops of different processes on one device.

---@class Facts.comm
---@field count number  count: Communication kernels.
---@field per_step number  count: How many a step on a device.
---@field time number  ns: Time in which one ran.
---@field exposed Spans  spans: Time in which only communication ran.
---@field beside Facts.comm.beside
---@field overlap number  share: Share of the communication time with compute beside it.
---@field median number  ns: Median communication kernel (pure transfer where ranks allow to tell).
---@field kinds Rows  rows: By collective: kind, count, time, exposed.
---@field serial Facts.comm.serial
---@field no_overlap Facts.comm.no_overlap
---@field same_stream boolean  flag: Communication runs on the stream of the compute kernels.
---@field small Facts.comm.small
---@field micro Facts.comm.micro
---@field replicate Facts.comm.replicate
---@field contention Facts.comm.contention
---@field path Facts.comm.path

---@class Facts.comm.beside
---@field remedy Remedy  remedy: All communication runs beside compute, as far as there is compute.

---@class Facts.comm.serial
---@field share number  share: Share of the gradient communication that begins after the last backward kernel.
---@field lost Spans  spans: Its exposed time.
---@field remedy Remedy  remedy: It runs beside the backward pass as far as that is long enough.

---@class Facts.comm.no_overlap
---@field lost Spans  spans: Exposed time when communication and compute never overlap, beside serial gradients and what the optimizer sends.
---@field remedy Remedy  remedy: It runs beside compute as far as there is compute.

---@class Facts.comm.small
---@field per_step number  count: Short (latency-bound) communication kernels a step.
---@field share number  share: Their share of the communication kernels.
---@field lost Spans  spans: Their exposed time and the gaps between them.
---@field remedy Remedy  remedy: A tenth of them.

---@class Facts.rank
---@field late Facts.rank.late
---@field idle Facts.rank.idle
---@field imbalance Facts.rank.imbalance
---@field node Facts.rank.node

---@class Facts.rank.late
---@field device number  count: The device that comes last at most collectives; absent with less than two devices or without collectives.
---@field share number  share: Share of the collectives with a late device at which it is this one.
---@field lateness number  ns: Mean time by which it comes after the median device.
---@field cause string  name: What it does more than the median device: loading, compute, launch, copies …
---@field lost Spans  spans: Waiting of the other devices inside collectives.
---@field remedy Remedy  remedy: The late device is as fast as the next-latest.

---@class Facts.rank.idle
---@field lost Spans  spans: Compute time of the working devices, which the idle ones could share.
---@field devices number  count: Devices listed in the report (and visible to the job) that did nothing.

---@class Facts.capture
---@field has_calls boolean  flag: CUDA calls were recorded.
---@field has_ranges boolean  flag: Named ranges were recorded.
---@field has_os_calls boolean  flag: OS calls were recorded.
---@field has_gpu_samples boolean  flag: GPU metric samples were recorded.
---@field has_memory boolean  flag: Memory events were recorded.
---@field format string  name: Format of the report with the timeline: nsys-sqlite, kineto.
---@field seconds number  num: Length of the capture session in seconds.
---@field steps number  count: Steps of the whole capture, 0 when none were found.
---@field unattributed number  share: Share of the ops whose launching call was not captured.
---@field overhead number  ns: Profiler overhead on launching threads inside the window.
---@field dropped number  count: Messages of the profiler about lost or failed collection.
---@field dropped_text string  name: The first of them.
---@field secrets number  count: Environment values or names that look like keys or passwords.
---@field secret_names string  name: Their names (never the values).
---@field range_coverage number  share: Share of the GPU time launched inside ranges that name a phase.
---@field world_size number  count: Ranks of the job, by the report; absent when it does not say.

---@class Facts.hw
---@field name string  name: The first device's name.
---@field known boolean  flag: The knowledge base has this device.
---@field sm_count number  count: SMs of the device.
---@field memory_bytes number  bytes: Memory of the device.
---@field memory_bytes_per_s number  bytes_per_s: Peak memory bandwidth.
---@field host_link_bytes_per_s number  bytes_per_s: What pinned copies reach on the host link.
---@field nvlink number  bytes_per_s: NVLink's rate in one direction, where every card has it.
---@field peak_fp32_flops number  flop_per_s: Peak FP32 rate without tensor cores.
---@field peak_tensor_flops number  flop_per_s: Peak dense 16-bit tensor rate.
---@field compute_capability number  num: Compute capability of the first device: 9.0 is 9.
---@field peak_fp8_flops number  flop_per_s: Peak dense FP8 rate; absent where the device has none.
---@field fp64_ratio number  num: Peak FP64 rate over peak FP32 rate, without tensor cores.

---@class Facts.op
---@field count number  count: Framework operators in the window; absent when none were recorded.
---@field per_step number  count: Operators a step, nested ones included.
---@field top Rows  rows: Operators by host time of their own: name, count, host (with operators inside), host_self, gpu and gpu_self (time of what was launched inside).
---@field host_heavy string  name: The operator with most host time of its own among those that take the host longer than the GPU.
---@field host_heavy_time number  ns: Its host time of its own, summed over the window.
---@field gpu_top string  name: The operator that itself launches most GPU time.
---@field gpu_top_share number  share: Its part of the GPU time that operators launch.
---@field of_top_kernel string  name: The operator that launches the kernel with most time.
---@field copy Facts.op.copy
---@field cast Facts.op.cast
---@field item Facts.op.item

---@class Facts.op.copy
---@field count number  count: Calls of aten::copy_.
---@field per_step number  count: How many a step.
---@field host number  ns: Their host time, summed.
---@field gpu number  ns: GPU time of what they launched, summed.

---@class Facts.op.cast
---@field count number  count: Calls of aten::_to_copy: a tensor was cast or moved.
---@field per_step number  count: How many a step.
---@field host number  ns: Their host time, summed.
---@field gpu number  ns: GPU time of what they launched, summed.

---@class Facts.op.item
---@field count number  count: Calls of aten::_local_scalar_dense: a value was read.
---@field per_step number  count: How many a step.
---@field host number  ns: Their host time, summed.
---@field gpu number  ns: GPU time of what they launched, summed.

---@class Facts.counter
---@field kernels number  count: Kernels, by name, of which hardware counters were given.
---@field instances number  count: Counted launches.
---@field time number  ns: Their summed time under the kernel profiler.
---@field coverage number  share: Part of the run's kernel time in kernels that were counted; absent without a timeline.
---@field top string  name: The counted kernel with the largest weight.
---@field rows Rows  rows: Counted kernels: kernel, class, weight (share of the run's kernel time; without a timeline of the counted time), count, time, bound (what it meets first: memory, compute; latency when it is near neither), headroom (share of its time that running near that limit would win), lost (the same as time), then shares of peak, of the warps, of the issue slots, of a warp's latency, and ratios; -1 was not counted.
---@field memory Facts.counter.memory
---@field compute Facts.counter.compute
---@field latency Facts.counter.latency
---@field advice Rows  rows: What the kernel profiler itself advised with an estimate: kernel, rule, speedup, text.

---@class Facts.counter.memory
---@field lost Spans  spans: Headroom of counted kernels that memory limits; without a timeline on the counted time.

---@class Facts.counter.compute
---@field lost Spans  spans: Headroom of counted kernels that the SMs limit.

---@class Facts.counter.latency
---@field lost Spans  spans: Headroom of counted kernels that are near no limit.

---@class Facts.roofline
---@field rows Rows  rows: Counted kernels with work and traffic: kernel, weight, flops and bytes a launch, intensity, balance, achieved, attainable, bound, estimated (what was not counted directly).
---@field estimates Rows  rows: An estimate from the classes of kernels alone: class, time, intensity, balance, bound.
---@field low_intensity Facts.roofline.low_intensity
---@field shapes Facts.roofline.shapes

---@class Facts.roofline.low_intensity
---@field share number  share: Estimate: share of the kernel time in classes whose intensity lies below the balance, and in products whose recorded sizes say so.

---@class Facts.sample
---@field nic number  bytes_per_s: Traffic of all network cards in the window, both directions.
---@field comm Facts.sample.comm
---@field window Facts.sample.window
---@field compute Facts.sample.compute
---@field idle Facts.sample.idle

---@class Facts.sample.comm
---@field nic number  bytes_per_s: The same while communication ran and no compute; may hold other traffic than the job's.
---@field gr_active number  share: Samples while communication ran and no compute: share of the time in which the GPU did anything.
---@field sm_active number  share: Samples while communication ran and no compute: share of the SMs that had work.
---@field sm_issue number  share: Samples while communication ran and no compute: share of the issue slots that were used.
---@field tensor number  share: Samples while communication ran and no compute: activity of the tensor pipes.
---@field dram number  share: Samples while communication ran and no compute: device memory traffic over its peak.
---@field pcie number  share: Samples while communication ran and no compute: PCIe traffic over its peak, of the busier direction.
---@field nvlink number  share: Samples while communication ran and no compute: NVLink traffic over its peak, of the busier direction.
---@field samples number  count: Samples while communication ran and no compute, of the quantity with most.

---@class Facts.sample.window
---@field gr_active number  share: Samples in the window: share of the time in which the GPU did anything.
---@field sm_active number  share: Samples in the window: share of the SMs that had work.
---@field sm_issue number  share: Samples in the window: share of the issue slots that were used.
---@field tensor number  share: Samples in the window: activity of the tensor pipes.
---@field dram number  share: Samples in the window: device memory traffic over its peak.
---@field pcie number  share: Samples in the window: PCIe traffic over its peak, of the busier direction.
---@field nvlink number  share: Samples in the window: NVLink traffic over its peak, of the busier direction.
---@field samples number  count: Samples in the window, of the quantity with most.

---@class Facts.sample.compute
---@field gr_active number  share: Samples while compute kernels ran: share of the time in which the GPU did anything.
---@field sm_active number  share: Samples while compute kernels ran: share of the SMs that had work.
---@field sm_issue number  share: Samples while compute kernels ran: share of the issue slots that were used.
---@field tensor number  share: Samples while compute kernels ran: activity of the tensor pipes.
---@field dram number  share: Samples while compute kernels ran: device memory traffic over its peak.
---@field pcie number  share: Samples while compute kernels ran: PCIe traffic over its peak, of the busier direction.
---@field nvlink number  share: Samples while compute kernels ran: NVLink traffic over its peak, of the busier direction.
---@field samples number  count: Samples while compute kernels ran, of the quantity with most.
---@field lost Spans  spans: Compute time of the devices that were sampled.

---@class Facts.sample.idle
---@field gr_active number  share: Samples while nothing ran: share of the time in which the GPU did anything.
---@field sm_active number  share: Samples while nothing ran: share of the SMs that had work.
---@field sm_issue number  share: Samples while nothing ran: share of the issue slots that were used.
---@field tensor number  share: Samples while nothing ran: activity of the tensor pipes.
---@field dram number  share: Samples while nothing ran: device memory traffic over its peak.
---@field pcie number  share: Samples while nothing ran: PCIe traffic over its peak, of the busier direction.
---@field nvlink number  share: Samples while nothing ran: NVLink traffic over its peak, of the busier direction.
---@field samples number  count: Samples while nothing ran, of the quantity with most.

---@class Facts.monitor
---@field gpus number  count: GPUs in logs of monitors; 0 without such a log.
---@field gpus_idle number  count: Of these, GPUs that did nothing.
---@field samples number  count: Samples of a GPU in the time of the job: from the first to the last one with activity.
---@field seconds number  num: Length of that time in seconds; absent when the log has no clock.
---@field worst Facts.monitor.worst
---@field memory Facts.monitor.memory
---@field watts number  num: Mean power of a GPU at work in watts.
---@field rows Rows  rows: Each GPU: gpu, name, samples, utilization, below, power (over the limit), clock, sm_active, memory (peak); -1 is not in the log.
---@field utilization number  share: Mean utilisation of the GPUs at work, as the monitor counts it: time in which any kernel ran.
---@field below number  share: Share of the samples below the band of busy GPUs.
---@field power number  share: Mean power over the limit.
---@field busy_power number  share: The same, of samples of busy GPUs.
---@field throttled Facts.monitor.throttled
---@field clock number  share: Mean SM clock of busy samples over the highest clock known of the GPU.
---@field gr_active number  share: Mean activity of any engine (DCGM).
---@field sm_active number  share: Mean share of SMs with work (DCGM).
---@field tensor_active number  share: Mean activity of the tensor pipes (DCGM).
---@field dram_active number  share: Mean activity of device memory (DCGM).

---@class Facts.monitor.worst
---@field gpu string  name: The GPU at work with the lowest mean utilisation.
---@field utilization number  share: Its mean utilisation.

---@class Facts.monitor.memory
---@field peak number  bytes: Most memory in use on a GPU.
---@field capacity number  bytes: Memory of that GPU.

---@class Facts.monitor.throttled
---@field power number  share: Share of the busy samples in which power held the clocks back.
---@field thermal number  share: … in which heat did.
---@field hardware number  share: … in which the board itself slowed the clocks, for either reason.

---@class Facts.topology
---@field gpus number  count: GPUs in the matrix of links; 0 when none was given.
---@field nics number  count: Network cards in it.
---@field nic Facts.topology.nic
---@field nvlink Facts.topology.nvlink
---@field p2p Facts.topology.p2p
---@field port Facts.topology.port
---@field infiniband boolean  flag: An active InfiniBand port was listed or found by NCCL.

---@class Facts.topology.nic
---@field far number  count: GPUs whose nearest network card lies across host bridges or sockets (NODE, SYS).
---@field rows Rows  rows: Each GPU's nearest network card: gpu, nic, path.

---@class Facts.topology.nvlink
---@field pairs number  count: Pairs of GPUs that NVLink connects.
---@field missing number  count: Pairs without NVLink, where others have it.
---@field rows Rows  rows: These pairs: a, b, path, of.

---@class Facts.topology.p2p
---@field known boolean  flag: A matrix of peer access was given.
---@field bad number  count: Pairs of GPUs, by direction, whose peer access is not OK.
---@field rows Rows  rows: These pairs: a, b, path (the status), of (which access).

---@class Facts.topology.port
---@field count number  count: Ports of InfiniBand adapters; 0 when none were given.
---@field down number  count: Ports that are not active.
---@field slow number  count: Active ports slower than the fastest one of their kind of link.
---@field rows Rows  rows: These ports: port, what, state, rate (Gbit/s), link.

---@class Facts.nccl
---@field ranks number  count: Ranks of the largest communicator in NCCL's log; 0 without one.
---@field nodes number  count: Nodes that they run on; absent when the log does not say.
---@field version string  name: NCCL's version.
---@field network string  name: The network that NCCL chose.
---@field pair Facts.nccl.pair
---@field local Facts.nccl.local
---@field remote Facts.nccl.remote
---@field calls Rows  rows: Calls that the log lists: operation, count, bytes (a rank).
---@field warnings number  count: Warnings in NCCL's log.
---@field warning string  name: The first of them, with its place; absent without any.
---@field switch Facts.nccl.switch
---@field peer_off boolean  flag: A variable switches peer-to-peer access in a node off.
---@field rdma_off boolean  flag: A variable switches GPUDirect RDMA off.
---@field infiniband_off boolean  flag: A variable switches InfiniBand off.

---@class Facts.nccl.pair
---@field count number  count: Pairs of ranks with a known transport; 0 without any.
---@field rows Rows  rows: Examples of pairs on slow paths: a, b, path, of.

---@class Facts.nccl.local
---@field peer number  count: Pairs inside a node that reach each other's memory directly.
---@field shared number  count: Pairs inside a node that go through host memory.
---@field net number  count: Pairs inside a node that go through the network.

---@class Facts.nccl.remote
---@field pairs number  count: Pairs of ranks on different nodes.
---@field gdr number  count: Of these, with GPUDirect RDMA.
---@field staged number  count: Over RDMA, staged through host memory.
---@field socket number  count: Over TCP sockets.

---@class Facts.nccl.switch
---@field count number  count: Variables that switch a fast path off, in the log or the run.
---@field text string  name: These variables with their values; absent without any.
---@field path string  name: What they switch off; absent without any.
---@field rows Rows  rows: The same: name, value, path, source.

---@class Facts.work
---@field steps Rows  rows: Steady steps of the window: index, time, outlier (500 at most).
---@field kernels Rows  rows: Compute kernels by name and size, most time first: name, class, blocks, threads (a block), count, time (200 at most).
---@field uploads Rows  rows: Uploads by size, most bytes first: bytes (of one), count, per_step (50 at most).
---@field upload_bytes number  bytes: Bytes uploaded a step to one device.
---@field upload_memory string  name: Host memory that most uploaded bytes lie in: pinned, pageable.
---@field top_class string  name: The class of compute kernels with most time.
---@field idle_per_step number  ns: Idle time of a device a step.

---@class Facts.driver
---@field process string  name: The process that launches most of the GPU work.
---@field pid number  count: Its process id.
---@field thread string  name: The thread that launches most of the GPU work.
---@field tid number  count: Its thread id.

---@class Facts.gemm
---@field rows Rows  rows: Matrix and convolution kernels: name, precision, tensor (cores used: yes, no, unknown), count, time.
---@field count number  count: Matrix and convolution kernels in the window.
---@field fp32 Facts.gemm.fp32
---@field half Facts.gemm.half
---@field tensor Facts.gemm.tensor

---@class Facts.gemm.fp32
---@field count number  count: Those in FP32 without tensor cores.

---@class Facts.gemm.half
---@field count number  count: Those in BF16 or FP16.

---@class Facts.gemm.tensor
---@field count number  count: Those known to use tensor cores.

---@class Facts.phase
---@field rows Rows  rows: Named phases, a step: phase, count (all), host, gpu, idle.
---@field most_idle string  name: The phase under which the GPU idles longest.
---@field data_loading Facts.phase.data_loading
---@field transfer Facts.phase.transfer
---@field forward Facts.phase.forward
---@field backward Facts.phase.backward
---@field optimizer Facts.phase.optimizer
---@field checkpoint Facts.phase.checkpoint
---@field evaluation Facts.phase.evaluation
---@field garbage_collection Facts.phase.garbage_collection
---@field logging Facts.phase.logging

---@class Facts.link
---@field nvlink number  share: Mean NVLink activity sampled during communication kernels.
---@field pcie number  share: Mean PCIe activity sampled during communication kernels.
---@field kind string  name: Which of them carries the communication: nvlink or pcie.

---@class Facts.nic
---@field rate number  bytes_per_s: Bytes that network cards received and sent, over the window.

---@class Facts.phase.data_loading
---@field host number  ns: Host time a step inside ranges of loading data.
---@field gpu number  ns: GPU time a step of work launched in loading data.
---@field idle number  ns: Idle time of a device a step under loading data.
---@field ranges number  count: Ranges of loading data in the window.

---@class Facts.phase.transfer
---@field host number  ns: Host time a step inside ranges of transfers.
---@field gpu number  ns: GPU time a step of work launched in transfers.
---@field idle number  ns: Idle time of a device a step under transfers.
---@field ranges number  count: Ranges of transfers in the window.

---@class Facts.phase.forward
---@field host number  ns: Host time a step inside ranges of the forward pass.
---@field gpu number  ns: GPU time a step of work launched in the forward pass.
---@field idle number  ns: Idle time of a device a step under the forward pass.
---@field ranges number  count: Ranges of the forward pass in the window.

---@class Facts.phase.backward
---@field host number  ns: Host time a step inside ranges of the backward pass.
---@field gpu number  ns: GPU time a step of work launched in the backward pass.
---@field idle number  ns: Idle time of a device a step under the backward pass.
---@field ranges number  count: Ranges of the backward pass in the window.

---@class Facts.phase.optimizer
---@field host number  ns: Host time a step inside ranges of the optimizer.
---@field gpu number  ns: GPU time a step of work launched in the optimizer.
---@field idle number  ns: Idle time of a device a step under the optimizer.
---@field ranges number  count: Ranges of the optimizer in the window.
---@field count number  count: Gaps on the GPU inside optimizer ranges of the loop.
---@field per_step number  count: How many a step.
---@field lost Spans  spans: Their idle time.
---@field remedy Remedy  remedy: The host does not do it there.

---@class Facts.collective
---@field allreduce Facts.collective.allreduce
---@field allgather Facts.collective.allgather
---@field reducescatter Facts.collective.reducescatter
---@field sendrecv Facts.collective.sendrecv

---@class Facts.collective.allreduce
---@field count number  count: Number of allreduce kernels, all devices.
---@field per_step number  count: Number of allreduce kernels a step on a device.
---@field time number  ns: Summed time of allreduce kernels on a device.
---@field exposed number  ns: Part of it with no compute beside it.
---@field share number  share: Share of the window that this exposed part takes.
---@field overlap number  share: Share of the time of allreduce kernels with compute kernels beside it.

---@class Facts.collective.allgather
---@field count number  count: Number of allgather kernels, all devices.
---@field per_step number  count: Number of allgather kernels a step on a device.
---@field time number  ns: Summed time of allgather kernels on a device.
---@field exposed number  ns: Part of it with no compute beside it.
---@field share number  share: Share of the window that this exposed part takes.
---@field overlap number  share: Share of the time of allgather kernels with compute kernels beside it.

---@class Facts.collective.reducescatter
---@field count number  count: Number of reducescatter kernels, all devices.
---@field per_step number  count: Number of reducescatter kernels a step on a device.
---@field time number  ns: Summed time of reducescatter kernels on a device.
---@field exposed number  ns: Part of it with no compute beside it.
---@field share number  share: Share of the window that this exposed part takes.
---@field overlap number  share: Share of the time of reducescatter kernels with compute kernels beside it.

---@class Facts.collective.sendrecv
---@field count number  count: Number of sendrecv kernels, all devices.
---@field per_step number  count: Number of sendrecv kernels a step on a device.
---@field time number  ns: Summed time of sendrecv kernels on a device.
---@field exposed number  ns: Part of it with no compute beside it.
---@field share number  share: Share of the window that this exposed part takes.
---@field overlap number  share: Share of the time of sendrecv kernels with compute kernels beside it.

---@class Facts.scale
---@field runs number  count: Runs that are compared: 1 when one run is diagnosed.
---@field devices_before number  count: GPUs of the smaller run.
---@field devices_after number  count: GPUs of the larger run.
---@field time_before number  ns: Time of the smaller run for the compared work.
---@field time_after number  ns: Time of the larger run for the same work.
---@field speedup number  num: Time of the smaller run over that of the larger one.
---@field efficiency number  share: Speed-up over the ratio of the GPUs.
---@field bottleneck string  name: The finding with the largest saving in the smaller run that the larger one still has.
---@field bottleneck_title string  name: What that finding says to do.
---@field bottleneck_before number  share: What its fix would save of the smaller run.
---@field bottleneck_after number  share: What its fix would save of the larger run.

---@class Facts.family
---@field batch_norm_sync Facts.family.batch_norm_sync
---@field checks Facts.family.checks
---@field clip Facts.family.clip
---@field compiled Facts.family.compiled
---@field concat Facts.family.concat
---@field cross_entropy Facts.family.cross_entropy
---@field decode Facts.family.decode
---@field dequantise Facts.family.dequantise
---@field dropout Facts.family.dropout
---@field embedding Facts.family.embedding
---@field fill Facts.family.fill
---@field foreach Facts.family.foreach
---@field fused_update Facts.family.fused_update
---@field gemv Facts.family.gemv
---@field index_backward Facts.family.index_backward
---@field kv_cache Facts.family.kv_cache
---@field loss_scaling Facts.family.loss_scaling
---@field moe_routing Facts.family.moe_routing
---@field naive_convolution Facts.family.naive_convolution
---@field nonzero Facts.family.nonzero
---@field normalisation Facts.family.normalisation
---@field old_tensor Facts.family.old_tensor
---@field prefill Facts.family.prefill
---@field reduction Facts.family.reduction
---@field rotary Facts.family.rotary
---@field sampling Facts.family.sampling
---@field scan Facts.family.scan
---@field sort Facts.family.sort
---@field upsample Facts.family.upsample

---@class Facts.family.batch_norm_sync
---@field count number  count: Number of kernels that join batch statistics over ranks.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.checks
---@field count number  count: Number of kernels that look for wrong values, or check assertions.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.clip
---@field count number  count: Number of kernels that measure and scale gradients.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.compiled
---@field count number  count: Number of kernels that a compiler made (Triton of torch.compile).
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.concat
---@field count number  count: Number of kernels that concatenate or stack tensors.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.cross_entropy
---@field count number  count: Number of kernels of the loss over classes.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.decode
---@field count number  count: Number of attention kernels of single tokens (decode).
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.dequantise
---@field count number  count: Number of kernels that unpack quantised weights.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.dropout
---@field count number  count: Number of kernels that draw random numbers.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.embedding
---@field count number  count: Number of embedding, gather and scatter kernels.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.fill
---@field count number  count: Number of kernels that fill tensors with a constant.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.foreach
---@field count number  count: Number of multi-tensor kernels of an optimizer that is not fused.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.fused_update
---@field count number  count: Number of fused optimizer kernels.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.gemv
---@field count number  count: Number of matrix-vector products.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.index_backward
---@field count number  count: Number of kernels that add gradients up by index.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.kv_cache
---@field count number  count: Number of kernels that write, gather or move the key-value cache.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.loss_scaling
---@field count number  count: Number of kernels of the gradient scaler.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.moe_routing
---@field count number  count: Number of kernels that route tokens to experts.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.naive_convolution
---@field count number  count: Number of convolutions by a plain or fallback algorithm.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.nonzero
---@field count number  count: Number of kernels whose result size depends on the data.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.normalisation
---@field count number  count: Number of normalisation kernels.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.old_tensor
---@field count number  count: Number of tensor-core kernels written for an older generation of GPUs.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.prefill
---@field count number  count: Number of attention kernels of whole prompts (prefill).
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.reduction
---@field count number  count: Number of reductions.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.rotary
---@field count number  count: Number of rotary-embedding kernels.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.sampling
---@field count number  count: Number of kernels that choose tokens.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.scan
---@field count number  count: Number of scans (cumulative sums).
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.sort
---@field count number  count: Number of sorts and top-k.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.family.upsample
---@field count number  count: Number of kernels that interpolate or resample.
---@field per_step number  count: How many a step.
---@field share number  share: Their share of the compute time.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They are gone.
---@field halved Remedy  remedy: They take half of their time.

---@class Facts.calls
---@field device_query Facts.calls.device_query
---@field event_timing Facts.calls.event_timing
---@field graph_build Facts.calls.graph_build
---@field graph_capture Facts.calls.graph_capture
---@field host_register Facts.calls.host_register
---@field ipc Facts.calls.ipc
---@field objects Facts.calls.objects
---@field pool Facts.calls.pool
---@field query Facts.calls.query
---@field strided_copy Facts.calls.strided_copy
---@field symbol_copy Facts.calls.symbol_copy

---@class Facts.calls.device_query
---@field count number  count: Number of questions to the driver about devices and memory, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.calls.event_timing
---@field count number  count: Number of calls that read the time between events, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.calls.graph_build
---@field count number  count: Number of calls that build or change graphs, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.calls.graph_capture
---@field count number  count: Number of calls that capture graphs, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.calls.host_register
---@field count number  count: Number of calls that pin or unpin host memory, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.calls.ipc
---@field count number  count: Number of calls that open memory of other processes, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.calls.objects
---@field count number  count: Number of calls that create or destroy streams and events, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.calls.pool
---@field count number  count: Number of calls of the stream-ordered allocator, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.calls.query
---@field count number  count: Number of calls that ask whether work is done, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.calls.strided_copy
---@field count number  count: Number of strided copies, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.calls.symbol_copy
---@field count number  count: Number of copies to or from symbols, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.ranges
---@field communicator Facts.ranges.communicator
---@field detokenise Facts.ranges.detokenise
---@field gloo Facts.ranges.gloo
---@field object_collective Facts.ranges.object_collective
---@field prepare Facts.ranges.prepare
---@field sampling Facts.ranges.sampling
---@field unused_search Facts.ranges.unused_search

---@class Facts.ranges.communicator
---@field count number  count: Number of set-up of communicators, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.ranges.detokenise
---@field count number  count: Number of turning tokens into text, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.ranges.gloo
---@field count number  count: Number of collectives on the CPU (Gloo), in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.ranges.object_collective
---@field count number  count: Number of collectives of Python objects, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.ranges.prepare
---@field count number  count: Number of preparation of inputs, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.ranges.sampling
---@field count number  count: Number of choosing tokens, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.ranges.unused_search
---@field count number  count: Number of searches for parameters without a gradient, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.os
---@field open Facts.os.open
---@field process Facts.os.process

---@class Facts.os.open
---@field count number  count: Number of calls that open or look up files, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.os.process
---@field count number  count: Number of calls that start processes, in the steady loop.
---@field per_step number  count: How many a step.
---@field time number  ns: Their summed host time.
---@field lost Spans  spans: Idle time while the launching thread is inside them.
---@field remedy Remedy  remedy: The host does not do them.

---@class Facts.kernel.gemm_train
---@field count number  count: Runs of eight or more launches of one small matrix kernel with one grid, with at most two others between.
---@field kernels number  count: Kernels in them, a step.
---@field lost Spans  spans: The idle time between them.
---@field remedy Remedy  remedy: The host launches each run once.

---@class Facts.kernel.repeated
---@field count number  count: Runs of eight or more launches of one small kernel with one grid, matrix kernels left out.
---@field kernels number  count: Kernels in them, a step.
---@field lost Spans  spans: The idle time between them.
---@field remedy Remedy  remedy: The host launches each run once.

---@class Facts.kernel.varying
---@field count number  count: Kernels that took more than twice the median of the same kernel and grid at the same place of the step.
---@field rows Rows  rows: Such kernels: name, count, time (beyond the median), median.
---@field lost Spans  spans: Their time beyond the median.
---@field remedy Remedy  remedy: They take the median.

---@class Facts.kernel.slowing
---@field ratio number  num: Time of the same kernels in the second half of the window over the first; 0 when it cannot be compared.
---@field share number  share: Share of the kernel time that was compared.
---@field lost Spans  spans: Time of the second half beyond the median of the first.
---@field remedy Remedy  remedy: Kernels stay as fast as in the first half.

---@class Facts.kernel.partial_warp
---@field share number  share: Share of the compute time in kernels whose blocks are no multiple of 32 threads, where the grid fills the device.
---@field waste number  share: Share of the compute time in lanes without a thread.
---@field rows Rows  rows: Such kernels: name, count, time, threads.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: Their lanes are all in use.

---@class Facts.kernel.tiny_block
---@field share number  share: Share of the compute time in kernels with at most 32 threads a block and more blocks than SMs.
---@field lost Spans  spans: Their time.

---@class Facts.precision.fp64
---@field share number  share: Share of the compute time in double-precision matrix kernels.
---@field count number  count: Such kernels, a step.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They take half of their time.

---@class Facts.precision.bf16
---@field share number  share: Share of the compute time in bfloat16 matrix kernels that are not known to use tensor cores.
---@field count number  count: Such kernels, a step.
---@field lost Spans  spans: Their time.
---@field remedy Remedy  remedy: They take half of their time.

---@class Facts.precision.half
---@field share number  share: Share of the compute time in 16-bit matrix and convolution kernels.

---@class Facts.precision.fp8
---@field share number  share: Share of the compute time in 8-bit and 4-bit matrix kernels.

---@class Facts.graph
---@field launches number  count: Launches of CUDA graphs in the window.
---@field per_step number  count: How many a step.
---@field call Facts.graph.call
---@field gpu Facts.graph.gpu
---@field kernels Facts.graph.kernels
---@field gap Facts.graph.gap
---@field miss Facts.graph.miss
---@field whole Facts.graph.whole

---@class Facts.graph.call
---@field median number  ns: Median launching call of a graph.

---@class Facts.graph.gpu
---@field median number  ns: Median time from the first to the last op of a graph launch.

---@class Facts.graph.kernels
---@field median number  count: Median ops of a graph launch.

---@class Facts.graph.gap
---@field count number  count: Gaps before a graph that the host makes.
---@field lost Spans  spans: Idle time of these gaps.

---@class Facts.graph.miss
---@field share number  share: Share of the steps without a graph, where most steps have one.
---@field lost Spans  spans: Idle time of these steps beyond that of the others.

---@class Facts.graph.whole
---@field share number  share: Share of the compute time in graphs that were traced as a whole.

---@class Facts.launch.waiting
---@field share number  share: Share of the launches of longer kernels that return only when the kernel has ended.
---@field lost Spans  spans: Idle time before the next launch after them.
---@field remedy Remedy  remedy: Launches do not wait.

---@class Facts.memory.free_burst
---@field count number  count: Runs of six or more frees of device memory, in the steady loop.
---@field per_step number  count: How many a step.
---@field frees number  count: Mean number of frees in a run.
---@field lost Spans  spans: Idle time in them and until the host is ahead again.
---@field remedy Remedy  remedy: These frees are gone.

---@class Facts.sync.optimizer
---@field count number  count: Waits of the host in optimizer ranges of the loop.
---@field per_step number  count: How many a step.
---@field lost Spans  spans: Idle time until the host is ahead again.
---@field remedy Remedy  remedy: These calls do not wait.

---@class Facts.sync.backward
---@field count number  count: Waits of the host in backward ranges of the loop.
---@field per_step number  count: How many a step.
---@field lost Spans  spans: Idle time until the host is ahead again.
---@field remedy Remedy  remedy: These calls do not wait.

---@class Facts.memset
---@field count number  count: Memsets in the window.
---@field per_step number  count: How many a step.
---@field bytes number  bytes: Their bytes.
---@field lost Spans  spans: Time in which only they ran.
---@field remedy Remedy  remedy: They are gone.

---@class Facts.copy.device
---@field lost Spans  spans: Time in which only copies inside a device ran.
---@field remedy Remedy  remedy: These copies are gone.
---@field per_step number  count: Copies inside a device, a step.

---@class Facts.copy.peer
---@field lost Spans  spans: Time in which only copies between devices ran.
---@field remedy Remedy  remedy: These copies run beside the kernels.
---@field per_step number  count: Copies between devices, a step.

---@class Facts.copy.duplex
---@field share number  share: Of uploads and downloads the one that takes less time: the share of it beside the other.
---@field lost Spans  spans: Exposed time of that direction.
---@field remedy Remedy  remedy: That direction runs beside the other.

---@class Facts.steps.kinds
---@field share number  share: Share of the slower of two kinds of steps; 0 for few steps.
---@field ratio number  num: The shortest of them over the longest of the others.

---@class Facts.efficiency
---@field parallel number  share: Share of the GPU time that computes: the product of the next three.
---@field balance number  share: Mean compute time of the GPUs over the largest.
---@field communication number  share: Largest compute time of a GPU over the largest time in which one had any work.
---@field orchestration number  share: Largest time in which a GPU had work over the window.

---@class Facts.phase.checkpoint
---@field count number  count: Gaps on the GPU inside checkpoint ranges of the loop.
---@field per_step number  count: How many a step.
---@field lost Spans  spans: Their idle time.
---@field remedy Remedy  remedy: The host does not do it there.

---@class Facts.phase.evaluation
---@field count number  count: Gaps on the GPU inside evaluation ranges of the loop.
---@field per_step number  count: How many a step.
---@field lost Spans  spans: Their idle time.
---@field remedy Remedy  remedy: The host does not do it there.

---@class Facts.phase.garbage_collection
---@field count number  count: Gaps on the GPU inside garbage collection ranges of the loop.
---@field per_step number  count: How many a step.
---@field lost Spans  spans: Their idle time.
---@field remedy Remedy  remedy: The host does not do it there.

---@class Facts.phase.logging
---@field count number  count: Gaps on the GPU inside logging ranges of the loop.
---@field per_step number  count: How many a step.
---@field lost Spans  spans: Their idle time.
---@field remedy Remedy  remedy: The host does not do it there.

---@class Facts.host.sleep
---@field count number  count: Gaps of the loop in which the launching thread sleeps.
---@field per_step number  count: How many a step.
---@field lost Spans  spans: The idle time of it.
---@field remedy Remedy  remedy: The host does not do it there.

---@class Facts.host.network
---@field count number  count: Gaps of the loop in which the launching thread is inside network calls.
---@field per_step number  count: How many a step.
---@field lost Spans  spans: The idle time of it.
---@field remedy Remedy  remedy: The host does not do it there.

---@class Facts.host.file_write
---@field count number  count: Gaps of the loop in which the launching thread writes files.
---@field per_step number  count: How many a step.
---@field lost Spans  spans: The idle time of it.
---@field remedy Remedy  remedy: The host does not do it there.

---@class Facts.host.os_wait
---@field count number  count: Gaps of the loop in which the launching thread is blocked in the OS (poll, condition, semaphore).
---@field per_step number  count: How many a step.
---@field lost Spans  spans: The idle time of it.
---@field remedy Remedy  remedy: The host does not do it there.

---@class Facts.environment
---@field recorded boolean  flag: The report holds the environment of the program.
---@field launch_blocking string  name: CUDA_LAUNCH_BLOCKING: whether each launch waits for its kernel; absent when it is not set.
---@field no_memory_caching string  name: PYTORCH_NO_CUDA_MEMORY_CACHING: whether PyTorch's caching allocator is off; absent when it is not set.
---@field allocator string  name: PYTORCH_CUDA_ALLOC_CONF: options of PyTorch's allocator; absent when it is not set.
---@field max_connections string  name: CUDA_DEVICE_MAX_CONNECTIONS: hardware queues for streams; absent when it is not set.
---@field module_loading string  name: CUDA_MODULE_LOADING: whether kernels are loaded when first used; absent when it is not set.
---@field cache_disable string  name: CUDA_CACHE_DISABLE: whether the cache of compiled PTX is off; absent when it is not set.
---@field force_ptx string  name: CUDA_FORCE_PTX_JIT: whether all code is compiled from PTX; absent when it is not set.
---@field tf32_override string  name: NVIDIA_TF32_OVERRIDE: whether TF32 is switched off everywhere; absent when it is not set.
---@field cublas_workspace string  name: CUBLAS_WORKSPACE_CONFIG: workspace of cuBLAS, as set for determinism; absent when it is not set.
---@field nccl_debug string  name: NCCL_DEBUG: what NCCL logs; absent when it is not set.
---@field nccl_algorithm string  name: NCCL_ALGO: the algorithm that NCCL is held to; absent when it is not set.
---@field nccl_protocol string  name: NCCL_PROTO: the protocol that NCCL is held to; absent when it is not set.
---@field distributed_debug string  name: TORCH_DISTRIBUTED_DEBUG: checks of PyTorch's collectives; absent when it is not set.
---@field blocking_wait string  name: TORCH_NCCL_BLOCKING_WAIT: whether the host waits inside collectives; absent when it is not set.
---@field compile_disable string  name: TORCH_COMPILE_DISABLE: whether torch.compile is off; absent when it is not set.
---@field dynamo_disable string  name: TORCHDYNAMO_DISABLE: whether torch.compile is off (older name); absent when it is not set.
---@field omp_threads string  name: OMP_NUM_THREADS: threads of OpenMP regions; absent when it is not set.

---@class Facts.comm.micro
---@field backwards number  count: Backward passes a step.
---@field synced number  count: Backward passes a step in which gradients are sent.
---@field optimizers number  count: Optimizer passes a step.
---@field lost Spans  spans: Exposed time of gradient collectives in all backward passes of a step but the last.
---@field remedy Remedy  remedy: These collectives are gone.

---@class Facts.comm.replicate
---@field devices number  count: Most devices that one process launches kernels on.
---@field broadcasts number  count: Broadcast kernels a step on each of them.
---@field reduces number  count: Reduce kernels a step on each of them.
---@field lost Spans  spans: Exposed time of their broadcasts, reduces and copies from GPU to GPU.
---@field remedy Remedy  remedy: These are gone.

---@class Facts.comm.contention
---@field slowdown number  num: Time of compute kernels beside collectives over the time of the same kernels alone.
---@field compared number  count: Kernels beside collectives that were compared.
---@field lost Spans  spans: What they take beyond their time alone.
---@field remedy Remedy  remedy: They take their time alone.

---@class Facts.cluster
---@field ranks number  count: Ranks (devices that did work) in all reports.
---@field reports number  count: Reports they are in.
---@field hosts number  count: Hosts they ran on.
---@field world number  count: Ranks that the job has, as the launcher says.
---@field missing number  count: Ranks without a report.
---@field steps number  count: Steps that all ranks have: those in which ranks are compared.
---@field window number  ns: Length of these steps, each as long as on its slowest rank.
---@field aligned boolean  flag: The clocks of all reports could be brought together.
---@field residual number  ns: Largest median deviation of the ends of the same collective after alignment.
---@field skew number  ns: Largest difference of the hosts' own clocks.
---@field matched number  share: Share of the collectives found on more than one rank.
---@field transfer number  ns: Exposed communication less waiting for late ranks, mean over ranks.
---@field waited number  ns: Exposed waiting for late ranks inside collectives, mean over ranks.
---@field efficiency Facts.cluster.efficiency
---@field table Rows  rows: By rank: rank, host, device, step, compute, loading, idle, waited (all a step), late (share of the collectives at which it comes last), lateness (mean).
---@field lateness Rows  rows: By step: step, time, slowest (rank), excess (its own time over that of the median rank).

---@class Facts.cluster.efficiency
---@field parallel number  share: Mean compute time of the ranks over the job's time; the product of the three below.
---@field load_balance number  share: Mean over largest compute time of a rank.
---@field communication number  share: Largest compute time over largest busy time (compute, exposed communication and copies).
---@field orchestration number  share: Largest busy time over the job's time.

---@class Facts.rank.imbalance
---@field compute Facts.rank.imbalance.compute
---@field input Facts.rank.imbalance.input

---@class Facts.rank.imbalance.compute
---@field spread number  share: Largest less median compute time of a step over its length, mean over steps.
---@field steps number  share: Share of the steps whose slowest rank owes half of its excess to compute.
---@field top_rank number  share: Share of these steps in which it is one and the same rank.
---@field lost Spans  spans: Waiting for these ranks, up to what balance wins.
---@field remedy Remedy  remedy: They compute as long as the median rank.

---@class Facts.rank.imbalance.input
---@field spread number  share: Largest less median waiting for data in a step over its length, mean over steps.
---@field steps number  share: Share of the steps whose slowest rank owes half of its excess to waiting for data.
---@field top_rank number  share: Share of these steps in which it is one and the same rank.
---@field lost Spans  spans: Waiting for these ranks, up to what balance wins.
---@field remedy Remedy  remedy: They wait for data as long as the median rank.

---@class Facts.rank.node
---@field name string  name: The host all of whose ranks are slower than every other rank; empty when there is none.
---@field ranks number  count: Its ranks.
---@field excess number  share: By how much its median rank is slower than the slowest other.
---@field cause string  name: What its ranks do more than the others.
---@field lost Spans  spans: Waiting of the other ranks for this host.
---@field remedy Remedy  remedy: The host is as fast as the slowest other rank.

---@class Facts.strategy
---@field name string  name: What the collectives look like: ddp, zero-1, zero-2, zero-3, tensor, pipeline, expert, context, embedding, exchange (all-to-all of unknown use), joined by +.
---@field evidence string  name: What it was told from.
---@field data number  count: Ranks that share gradients, 1 when none do.
---@field tensor number  count: Ranks that share layers, 1 when none do.
---@field pipeline number  count: Stages of a pipeline, 1 without one.
---@field expert number  count: Ranks that exchange tokens of experts, 1 when none do.
---@field context number  count: Ranks that exchange blocks of a sequence, 1 when none do.
---@field zero_stage number  count: 0 replicated, 1 to 3 sharded as ZeRO does.
---@field collectives Rows  rows: By kind, phase and number of ranks: kind, phase, ranks, per_step, bytes (a step), exposed.
---@field tensor_across_nodes boolean  flag: Tensor-parallel groups span hosts.
---@field gather_across_nodes boolean  flag: Parameters are gathered across hosts.
---@field tensor_lost Spans  spans: Exposed transfer of tensor-parallel collectives.
---@field tensor_remedy Remedy  remedy: These transfers take no exposed time; across nodes, as far as links inside a node save it.
---@field gather_lost Spans  spans: Exposed transfer of parameter gathers.
---@field gather_remedy Remedy  remedy: These transfers take no exposed time.
---@field regather_lost Spans  spans: Exposed transfer of parameter gathers in the backward pass; half of all where no range names that pass.
---@field regather_remedy Remedy  remedy: These transfers take no exposed time.
---@field across_lost Spans  spans: Exposed transfer of parameter gathers and gradient scatters across nodes.
---@field across_remedy Remedy  remedy: These transfers stay inside nodes, whose links save a part of their exposed time.
---@field gather_bytes number  bytes: Parameters gathered once a step on a rank.
---@field reduce_bytes number  bytes: Gradients reduced a step on a rank.
---@field memory_peak number  bytes: Largest device memory in use on any rank.
---@field memory_capacity number  bytes: Memory of a device.
---@field model_states number  bytes: Weights, gradients and Adam state in mixed precision, all ranks together (16 bytes a parameter).
---@field unsharded_weights number  bytes: What a rank would hold more if weights were not sharded.

---@class Facts.pipeline
---@field stages number  count: Stages of the pipeline, 0 without one.
---@field micro_batches number  count: Micro-batches a step.
---@field chunks number  count: Chunks of layers a rank: how often a micro-batch passes it; more than 1 in an interleaved schedule.
---@field bubble number  share: Share of the time that stages wait for each other, mean.
---@field expected number  share: (p-1)/(v m+p-1) for p stages, v chunks and m micro-batches.
---@field interleaved number  share: The same with twice as many chunks.
---@field imbalance number  share: Largest compute time of a stage over the mean, less one.
---@field slowest number  count: That stage, counted from 0.
---@field bubble_lost Spans  spans: Waiting that twice as many micro-batches would spare.
---@field bubble_remedy Remedy  remedy: Twice as many micro-batches.
---@field balance_lost Spans  spans: Waiting of the other stages for the slowest.
---@field balance_remedy Remedy  remedy: The slowest stage takes as long as the mean stage.

---@class Facts.comm.path
---@field inside Facts.comm.path.inside
---@field across Facts.comm.path.across

---@class Facts.comm.path.inside
---@field rate number  bytes_per_s: Bus bandwidth of large collectives inside a node: bytes over links in the shortest kernel.
---@field bytes number  bytes: Their bytes a rank.
---@field peak number  bytes_per_s: Rate of the path one way.
---@field name string  name: The path.
---@field kind string  name: The collective with most time among them.
---@field lost Spans  spans: Their exposed transfer beyond the usual rate.
---@field remedy Remedy  remedy: The usual rate of the path.

---@class Facts.comm.path.across
---@field rate number  bytes_per_s: Bus bandwidth of large collectives across nodes.
---@field bytes number  bytes: Their bytes a rank.
---@field peak number  bytes_per_s: Rate of the network one way.
---@field name string  name: The path.
---@field kind string  name: The collective with most time among them.
---@field lost Spans  spans: Their exposed transfer beyond the usual rate.
---@field remedy Remedy  remedy: The usual rate of the path.

---@class Facts.summary
---@field kernels Rows  rows: Kernels of the window by name: name, count, total, share, mean, median, min, max, stddev; the 40 largest totals.
---@field calls Rows  rows: CUDA calls that begin in the window by name: name, count, total, share, mean, median, min, max, stddev; the 40 largest totals.
---@field copies Rows  rows: Copies and memsets by direction, their times: name, count, total, share, mean, median, min, max, stddev; the 40 largest totals.
---@field copy_sizes Rows  rows: Copies and memsets by direction, their bytes: name, count, total, share, mean, median, min, max, stddev; the 40 largest totals.
---@field ranges Rows  rows: Ranges that begin in the window by name, numbers in it as #: name, count, total, share, mean, median, min, max, stddev; the 40 largest totals.
---@field os_calls Rows  rows: OS calls that begin in the window by name: name, count, total, share, mean, median, min, max, stddev; the 40 largest totals.

---@class Facts.roofline.shapes
---@field rows Rows  rows: An estimate from recorded sizes, of products, convolutions and attention: op, shape, dtype, kernel (with most time), pipe (whose peak it is: tensor, plain), count, time (of the kernels that the operator launched itself), flops and bytes (the least) a call, intensity, balance, achieved, achieved_share (of the peak), attainable, attained (achieved over attainable), side (the limit that these sizes meet first: memory, compute), bound (the side where the kernels come near it, else neither; cache when memory could not have moved the bytes in the time), uses (of single products: the smaller of rows and columns of the result), odd (of products: a distance between rows that is no multiple of 16 bytes, in elements); -1 is unknown.
---@field time number  ns: Kernel time of these rows, summed.
---@field share number  share: Its part of the kernel time.
---@field covered number  share: Part of the time of matrix, convolution and attention kernels that the rows hold.
---@field achieved number  share: Estimate: the rows' operations over what the peaks allow in their time.
---@field attained number  share: Estimate: part of the rows' time that the nearer limit, peak or bandwidth, explains.
---@field memory Facts.roofline.shapes.memory
---@field few Facts.roofline.shapes.few
---@field slow Facts.roofline.shapes.slow
---@field odd Facts.roofline.shapes.odd
---@field hot Facts.roofline.shapes.hot
---@field dropped Facts.roofline.shapes.dropped

---@class Facts.roofline.shapes.memory
---@field share number  share: Estimate: part of the kernel time in rows that memory limits.
---@field top string  name: The one of them with most time.

---@class Facts.roofline.shapes.few
---@field share number  share: Estimate: part of the kernel time in products below the balance whose result has so few rows or columns that each weight is read for little work (roofline.few_uses).
---@field uses number  count: Their rows or columns, on average over time.
---@field per_step number  count: How many of them a step.

---@class Facts.roofline.shapes.slow
---@field share number  share: Estimate: part of the kernel time in rows that stay far from both limits.
---@field top string  name: The one of them with most time.
---@field attained number  share: Part of their time that the nearer limit explains.

---@class Facts.roofline.shapes.odd
---@field share number  share: Part of the kernel time in products on tensor cores with a distance between rows that is no multiple of 16 bytes.
---@field top string  name: The one of them with most time.
---@field elements number  count: Its distance, in elements.

---@class Facts.roofline.shapes.hot
---@field top string  name: Of the sizes that the kernel with most time works on, those with most time.
---@field attained number  share: Part of its time on such sizes that the nearer limit explains.
---@field side string  name: Which limit that is, of the sizes with most time.

---@class Facts.roofline.shapes.dropped
---@field count number  count: Calls left out because the estimate fails: faster than the peak (another GPU, sparsity), or kernels that need fewer operations (Winograd, FFT).
---@field share number  share: Their part of the kernel time.
---@field example string  name: One of them.
