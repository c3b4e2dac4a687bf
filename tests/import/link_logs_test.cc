// Logs of links, of split boards and of processes: the kernel's, DCGM's, NCCL's, and lists of
// nvidia-smi.
#include "tests/import/text_inputs.h"

using namespace advise;
using namespace advise::testing;

namespace {

TEST_CASE("kernel log: a switch, a cable and a link that repaired itself are told apart") {
  const Trace trace = ImportedText(
      "[12345.678901] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', GPU has fallen off\n"
      "[12360.6] pcieport 0000:3a:00.0: AER: Corrected error received: 0000:3b:00.0\n"
      "[12361.6] pcieport 0000:3a:00.0: AER: Uncorrected (Fatal) error received: 0000:3c:00.0\n"
      "[12371.1] mlx5_core 0000:17:00.0: Port module event: module 0, Cable unplugged\n"
      "[12371.9] mlx5_core 0000:17:00.0: Port module event: module 0, Cable plugged\n"
      "[12372.1] nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 28 LTSSM Fault Up\n"
      "[12372.2] nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Severity 5 Engine instance 28\n"
      "[12373.1] nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 12028, Non-fatal, Link 32 egress\n");
  CHECK(trace.kind == "kernel-log");
  CHECK(trace.monitor.errors.size() == 1);
  const std::vector<LinkEvent>& links = trace.monitor.links;
  REQUIRE(links.size() == 5);
  CHECK(links[0].device == "0000:3b:00.0");
  CHECK_FALSE(links[0].broken);
  CHECK(links[1].what == "a PCIe error: uncorrected (fatal)");
  CHECK(links[1].broken);
  CHECK(links[2].device == "mlx5_core 0000:17:00.0");
  CHECK(links[2].what == "module 0, Cable unplugged");
  CHECK(links[3].device == "NVSwitch 3");
  CHECK(links[3].what == "SXid 20034, Fatal, Link 28 LTSSM Fault Up");
  CHECK((links[3].broken && links[3].kind == LinkEvent::Kind::kSwitch));
  CHECK_FALSE(links[4].broken);
}

TEST_CASE("dcgmi dmon: a board that is split shows its instances again, and is left out") {
  const std::string header = "#Entity   GRACT        SMACT\nID\n";
  const Trace split = ImportedText(header +
                                   "GPU 0     0.420        0.410\nGPU-I 1   0.980        0.950\n"
                                   "GPU-I 3   0.000        0.000\n");
  REQUIRE(split.monitor.gpus.size() == 2);
  CHECK(split.monitor.gpus[0].label == "0 instance 1");
  CHECK(split.monitor.gpus[1].label == "0 instance 3");
  CHECK(split.devices[0].name == "MIG instance");
  CHECK(Values(split, 0, "gr_active") == Numbers{0.98});
  // Several boards: which of them the instances are of is not known.
  const Trace several =
      ImportedText(header + "GPU 0  0.4  0.4\nGPU 1  0.9  0.9\nGPU-I 1  0.9 0.9\n");
  CHECK(several.monitor.gpus.size() == 3);
}

TEST_CASE("dcgm-exporter: the board of an instance is left out, other boards stay") {
  const Trace trace = ImportedText(
      "DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"0\",UUID=\"a\"} 0.4\n"
      "DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"0\",UUID=\"a\",GPU_I_ID=\"2\"} 0.9\n"
      "DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"1\",UUID=\"b\"} 0.5\n");
  REQUIRE(trace.monitor.gpus.size() == 2);
  CHECK(trace.monitor.gpus[0].label == "1");
  CHECK(trace.monitor.gpus[1].label == "0 instance 2");
}

TEST_CASE("NCCL log: what the watchdog gave up, and the peer that did not answer") {
  const Trace trace = ImportedText(
      "node02:5001:5090 [3] transport/net_ib.cc:1885 NCCL WARN NET/IB: Got completion from peer "
      "10.0.0.2<44321> with status=12 opcode=0 len=0 vendor err 129 (Recv) localGid fe80\n"
      "[rank3]:[E1120 10:15:22.123456 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=1123, OpType=ALLREDUCE, NumelIn=26214400, "
      "NumelOut=26214400, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n");
  REQUIRE(trace.nccl.timeouts.size() == 1);
  CHECK(trace.nccl.timeouts[0].rank == 3);
  CHECK(trace.nccl.timeouts[0].operation == "ALLREDUCE");
  CHECK(trace.nccl.timeouts[0].number == 1123);
  CHECK(trace.nccl.timeouts[0].seconds == Approx(600.012));
  REQUIRE(trace.nccl.lost_peers.size() == 1);
  CHECK(trace.nccl.lost_peers[0].peer == "10.0.0.2");
  CHECK(trace.nccl.lost_peers[0].status == 12);
  // PyTorch alone writes such a line, too.
  const Trace alone = ImportedText(
      "Epoch 3\n[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, "
      "OpType=ALLGATHER, Timeout(ms)=1800000) ran for 1800345 milliseconds before timing out.\n");
  CHECK(alone.kind == "nccl-log");
  CHECK(alone.nccl.timeouts[0].seconds == Approx(1800.345));
}

TEST_CASE("NCCL log: versions of the nodes are kept, each once") {
  const Trace trace = ImportedText(
      "n0:1:2 [0] NCCL INFO NCCL version 2.18.3+cuda12.1\n"
      "n1:1:2 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
      "n0:1:3 [0] NCCL INFO NCCL version 2.18.3+cuda12.1\n");
  CHECK(trace.nccl.versions == std::vector<std::string>{"2.18.3+cuda12.1", "2.21.5+cuda12.4"});
}

TEST_CASE("lists of processes: those of one moment share a GPU, one after another do not") {
  const std::string header = "timestamp, gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n";
  const Trace both = ImportedText(header +
                                  "2026/11/20 10:15:00.100, GPU-a, 4242, python, 100 MiB\n"
                                  "2026/11/20 10:15:00.100, GPU-a, 51, /usr/bin/server, 200 MiB\n"
                                  "2026/11/20 10:15:01.100, GPU-a, 4242, python, 100 MiB\n");
  CHECK(both.kind == "process-list");
  REQUIRE(both.monitor.processes.size() == 2);
  CHECK(both.monitor.processes[1].name == "server");
  CHECK(both.monitor.processes[1].bytes == 200 * kMiB);
  const Trace apart = ImportedText(header +
                                   "2026/11/20 10:15:00.100, GPU-a, 4242, python, 100 MiB\n"
                                   "2026/11/20 10:15:01.100, GPU-a, 51, python, 100 MiB\n");
  CHECK(apart.monitor.processes.size() == 1);
  const Trace pmon = ImportedText(
      "# gpu         pid   type     sm    mem    enc    dec    command\n"
      "# Idx           #    C/G      %      %      %      %    name\n"
      "    0       4242     C     55     20      -      -    python\n"
      "    0       5151     C     41     30      -      -    server\n"
      "    0       77       G      1      0      -      -    Xorg\n"
      "    0       4301     C      0      0      -      -    python\n"
      "    0       4242     C     55     20      -      -    python\n");
  CHECK(pmon.monitor.processes.size() == 2);
}

}  // namespace
