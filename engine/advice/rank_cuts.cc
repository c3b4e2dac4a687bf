#include "engine/advice/rank_cuts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace advise {
namespace {

double ClaimedInSteps(const Finding& finding) {
  double claimed = 0;
  for (const StepPart& step : finding.step_parts) claimed += step.share;
  return claimed;
}

// The part of a saving that is communication: of what the finding claims, not of what it wins
// because the host gets ahead.
double OfCommunication(const Finding& finding, double share) {
  return std::min(share, finding.touched_share) * finding.comm_share;
}

// Time that both would take off the same rank and step.
Nanos SharedPart(const RankCuts& a, const RankCuts& b) {
  Nanos shared = 0;
  for (std::size_t r = 0; r < std::min(a.size(), b.size()); ++r) {
    for (std::size_t s = 0; s < std::min(a[r].size(), b[r].size()); ++s) {
      shared += std::min(a[r][s], b[r][s]);
    }
  }
  return shared;
}

}  // namespace

void CutsOfJob::Size(Cuts* cuts) const {
  for (RankCuts* part : {&cuts->comm, &cuts->data, &cuts->other}) {
    part->resize(cluster_.ranks.size());
  }
  cuts->eased.resize(cluster_.ranks.size());
}

void CutsOfJob::Join(RankCuts* cuts, const RankCuts& more) const {
  if (more.empty()) return;
  cuts->resize(cluster_.ranks.size());
  for (std::size_t r = 0; r < std::min(more.size(), cuts->size()); ++r) {
    if (more[r].empty()) continue;
    if ((*cuts)[r].empty()) (*cuts)[r].assign(cluster_.job.steps, 0);
    for (std::size_t s = 0; s < cluster_.job.steps; ++s) (*cuts)[r][s] += more[r][s];
  }
}

RankCuts CutsOfJob::WaitsForData() const {
  const Job& job = cluster_.job;
  RankCuts waits(cluster_.ranks.size());
  for (std::size_t r = 0; r < waits.size(); ++r) {
    const auto first = job.waited_for_data.begin() + static_cast<std::ptrdiff_t>(r * job.steps);
    std::vector<Nanos> beside(first, first + static_cast<std::ptrdiff_t>(job.steps));
    const bool waited = std::any_of(beside.begin(), beside.end(), [](Nanos n) { return n > 0; });
    if (waited) waits[r] = std::move(beside);
  }
  return waits;
}

void CutsOfJob::AddData(const RankCuts& waits, Cuts* cuts) const {
  Size(cuts);
  Join(&cuts->data, waits);
  for (std::size_t r = 0; r < waits.size(); ++r) {
    if (!waits[r].empty()) cuts->eased[r] = 1;
  }
}

void CutsOfJob::AddCommunication(const Finding& finding, std::size_t r, double share,
                                 Cuts* cuts) const {
  const double communication = OfCommunication(finding, share);
  if (communication <= 0) return;
  const Job& job = cluster_.job;
  double exposed = 0;
  double length = 0;
  for (std::size_t s = 0; s < job.steps; ++s) {
    exposed +=
        static_cast<double>(job.Transfer(cluster_.ranks, r, s) - NeededAtOnce(finding, r, s));
    length += static_cast<double>(job.Captured(r, s));
  }
  const double most = length > 0 ? std::max(0.0, exposed / length) : 0;
  cuts->fewer = std::max(cuts->fewer, finding.comm_fewer);
  if (most > 0) cuts->comm[r] = Spread(finding, std::min(communication, most), 0, r);
}

void CutsOfJob::Add(const Finding& finding, std::size_t r, double share, Cuts* cuts) const {
  if (share <= 0) return;
  AddCommunication(finding, r, share, cuts);
  const double communication = OfCommunication(finding, share);
  const double other = share - communication;
  const double of_host = PartOfHost(finding, r);
  if (!finding.batches_ready) cuts->eased[r] += of_host;
  if (other <= 0) return;
  // What it wins beyond its claims is idle time.
  const double busy =
      std::min(share, finding.touched_share) * (1 - finding.comm_share - finding.idle_share);
  const double idle = std::clamp(1 - busy / other, 0.0, 1.0);
  std::vector<Nanos>& own = (finding.batches_ready ? cuts->data : cuts->other)[r];
  own = Spread(finding, other, idle, r);
  // A GPU that is idle less gets its work sooner. How long hosts load while theirs has work is not
  // known.
  if (finding.batches_ready) {
    cuts->eased[r] = 1;
  } else if (2 * idle > 1) {
    cuts->eased[r] += std::max(0.0, PartOf(own, r) - of_host);
  }
}

void CutsOfJob::EaseHosts(const Finding& finding, std::size_t r, Cuts* cuts) const {
  cuts->eased[r] += PartOfHost(finding, r);
}

// What the fix takes off the work of the rank's hosts. A rank that waits for others saves less GPU
// time by it than host time.
double CutsOfJob::PartOfHost(const Finding& finding, std::size_t r) const {
  const Job& job = cluster_.job;
  if (job.host_works[r] <= 0) return 0;
  Nanos length = 0;
  for (std::size_t s = 0; s < job.steps; ++s) length += job.Captured(r, s);
  return std::min(1.0, finding.host_share * static_cast<double>(length) /
                           static_cast<double>(job.host_works[r]));
}

// What they are of the rank's own time.
double CutsOfJob::PartOf(const std::vector<Nanos>& cuts, std::size_t r) const {
  const Job& job = cluster_.job;
  const auto sum = static_cast<double>(std::accumulate(cuts.begin(), cuts.end(), Nanos{0}));
  double own = 0;
  for (std::size_t s = 0; s < job.steps; ++s) own += static_cast<double>(job.Own(r, s));
  return own > 0 ? std::min(1.0, sum / own) : 0;
}

// A share of the rank's window, laid on its steps: where the finding claims time, and the rest on
// all alike. What does not fit into a step goes to all, too, but for what the rank waits in the
// part of it that is `idle`: in that step, or in any of those that are treated alike.
std::vector<Nanos> CutsOfJob::Spread(const Finding& finding, double part, double idle,
                                     std::size_t r) const {
  const Job& job = cluster_.job;
  const auto window = static_cast<double>(std::max<Nanos>(1, cluster_.ranks[r].Window()));
  const double claimed = ClaimedInSteps(finding);
  const double placed = std::min(part, claimed);
  std::map<Nanos, double> known;
  for (const StepPart& step : finding.step_parts) {
    if (claimed > 0) known[step.start] = placed / claimed * window * step.share;
  }
  double length = 0;
  for (std::size_t s = 0; s < job.steps; ++s) {
    length += static_cast<double>(job.Captured(r, s));
  }
  const double everywhere = part - placed;  // of each step
  std::vector<Nanos> cuts(job.steps);
  double over = 0;
  double idle_over = 0;  // of steps that are treated alike
  double waited_alike = 0;
  for (std::size_t s = 0; s < job.steps; ++s) {
    bool alike = true;
    double wanted = everywhere * static_cast<double>(job.Captured(r, s));
    if (job.has_steps && !known.empty()) {
      const auto here = known.find(job.SpanOf(cluster_.ranks, r, s).start);
      if (here != known.end()) wanted += here->second, alike = false;
    }
    const Nanos own = std::max<Nanos>(0, job.Own(r, s) - job.before[r]);
    const Nanos own_idle = std::max<Nanos>(0, own - job.TimeOf(cluster_.ranks, r, s).compute);
    const double in_idle = idle * wanted;
    const double wins = std::min(in_idle, static_cast<double>(own_idle));
    const double fits = std::min(static_cast<double>(own), wins + wanted - in_idle);
    const auto waited = static_cast<double>(job.waited[r * job.steps + s]);
    cuts[s] = static_cast<Nanos>(fits);
    const double too_idle = in_idle - wins;
    over += wanted - fits - too_idle;
    if (alike) {
      idle_over += too_idle;
      waited_alike += waited;
    } else {
      over += std::max(0.0, too_idle - waited);
    }
  }
  over += std::max(0.0, idle_over - waited_alike);
  for (std::size_t s = 0; s < job.steps && length > 0; ++s) {
    cuts[s] += static_cast<Nanos>(over * static_cast<double>(job.Captured(r, s)) / length);
  }
  return cuts;
}

// What shared layers and stages wait for: there is nothing to hide it behind. Of exchanges one half
// can be hidden behind the work on the other one, but not behind other buckets of gradients. A
// faster path shortens all of them.
Nanos CutsOfJob::NeededAtOnce(const Finding& finding, std::size_t rank, std::size_t step) const {
  if (finding.comm_faster) return 0;
  const auto at = [&](const RankCuts& cuts) {
    return rank < cuts.size() && step < cuts[rank].size() ? cuts[rank][step] : Nanos{0};
  };
  const Strategy& strategy = cluster_.strategy;
  const Nanos exchanged = at(strategy.exchanged);
  const bool overlaps = finding.rule->topic == Topic::kCollectives;
  return at(strategy.needed) + (overlaps ? exchanged / 2 : exchanged);
}

bool CutsOfJob::IsNeededAtOnce(const Finding& finding, std::size_t rank) const {
  if (finding.comm_share <= 0) return false;
  Nanos needed = 0;
  Nanos transferred = 0;
  for (std::size_t s = 0; s < cluster_.job.steps; ++s) {
    needed += NeededAtOnce(finding, rank, s);
    transferred += cluster_.job.Transfer(cluster_.ranks, rank, s);
  }
  return needed > 0 && 2 * needed >= transferred;
}

void CutsOfJob::Bound(Cuts* cuts) const {
  const Job& job = cluster_.job;
  Size(cuts);
  const auto at = [](const RankCuts& part, std::size_t r, std::size_t s) {
    return part[r].empty() ? Nanos{0} : part[r][s];
  };
  for (std::size_t r = 0; r < cluster_.ranks.size(); ++r) {
    for (std::size_t s = 0; s < job.steps; ++s) {
      if (!cuts->comm[r].empty()) {
        cuts->comm[r][s] = std::min(cuts->comm[r][s], job.Transfer(cluster_.ranks, r, s));
      }
      const Nanos left = job.Own(r, s) - at(cuts->comm, r, s);
      if (!cuts->data[r].empty()) cuts->data[r][s] = std::min(cuts->data[r][s], left);
      if (cuts->other[r].empty()) continue;
      cuts->other[r][s] = std::min(cuts->other[r][s], left - at(cuts->data, r, s));
    }
  }
}

Nanos CutsOfJob::GainOf(const Cuts& cuts) const {
  RankCuts all = cuts.other;
  Join(&all, cuts.data);
  return cluster_.job.Gain(all, cuts.comm, cuts.eased, cuts.fewer);
}

Cuts CutsOfJob::Joined(const Cuts& a, const Cuts& b) const {
  Cuts both = a;
  Join(&both.comm, b.comm);
  Join(&both.other, b.other);
  both.fewer = std::max(a.fewer, b.fewer);
  Size(&both);
  for (std::size_t r = 0; r < b.eased.size(); ++r)
    both.eased[r] = std::min(1.0, both.eased[r] + b.eased[r]);
  for (std::size_t r = 0; r < b.data.size(); ++r) {
    std::vector<Nanos>& data = both.data[r];
    if (data.empty()) data.assign(b.data[r].size(), 0);
    for (std::size_t s = 0; s < b.data[r].size(); ++s) data[s] = std::max(data[s], b.data[r][s]);
  }
  Bound(&both);
  return both;
}

Cuts CutsOfJob::Larger(const Cuts& a, const Cuts& b) const {
  Cuts larger = a;
  larger.fewer = std::max(a.fewer, b.fewer);
  Size(&larger);
  for (std::size_t r = 0; r < cluster_.ranks.size(); ++r) {
    if (Taken(b, r) <= Taken(a, r)) continue;
    larger.comm[r] = b.comm[r];
    larger.data[r] = b.data[r];
    larger.other[r] = b.other[r];
    larger.eased[r] = b.eased.empty() ? 0 : b.eased[r];
  }
  return larger;
}

Nanos CutsOfJob::Shared(const Cuts& a, const Cuts& b) {
  return SharedPart(a.comm, b.comm) + SharedPart(a.data, b.data) + SharedPart(a.other, b.other);
}

Cuts CutsOfJob::Of(const std::set<std::size_t>& ranks, const Cuts& cuts) {
  Cuts part = cuts;
  for (RankCuts* one : {&part.comm, &part.data, &part.other}) {
    for (std::size_t r = 0; r < one->size(); ++r) {
      if (!ranks.contains(r)) (*one)[r].clear();
    }
  }
  return part;
}

Nanos CutsOfJob::Taken(const Cuts& cuts, std::size_t rank) {
  Nanos sum = 0;
  for (const RankCuts* part : {&cuts.comm, &cuts.data, &cuts.other}) {
    if (rank < part->size()) sum = std::accumulate((*part)[rank].begin(), (*part)[rank].end(), sum);
  }
  return sum;
}

}  // namespace advise
