// What names tell: kernels, ranges, calls, threads, GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "engine/base/call_name.h"
#include "engine/base/glob.h"
#include "engine/base/is_in.h"
#include "engine/knowledge/knowledge.h"

namespace advise {
namespace {

std::string ValueOr(const NameRule* rule, const char* otherwise) {
  return rule == nullptr ? otherwise : rule->value;
}

std::string_view NameIn(FamilyKind kind, std::string_view name) {
  return kind == FamilyKind::kCall ? WithoutVersionSuffix(name) : name;
}

}  // namespace

bool KernelClass::HasTrait(std::string_view trait) const { return IsIn(trait, traits); }

KernelClass Knowledge::ClassifyKernel(std::string_view demangled_name) const {
  const NameKey key(demangled_name);
  KernelClass made;
  made.name = "other";
  if (const NameRule* rule = FirstMatch(kernel_class_, key)) {
    made.name = rule->value;
    made.family = rule->family;
    made.collective = rule->collective;
  }
  made.precision = ValueOr(FirstMatch(kernel_precision_, key, made.name), "");
  if (const NameRule* rule = FirstMatch(kernel_tensor_, key, made.name)) {
    made.tensor_core = rule->value == "yes" ? 1 : 0;
  }
  for (const NameRule& rule : kernel_trait_) {
    const bool asked = rule.classes.empty() || IsIn(made.name, rule.classes);
    if (asked && !made.HasTrait(rule.value) && rule.Matches(key)) made.traits.push_back(rule.value);
  }
  return made;
}

std::string Knowledge::RangePhase(std::string_view range_name) const {
  return ValueOr(FirstMatch(range_phase_, NameKey(range_name)), "");
}

std::string Knowledge::StepRange(std::string_view range_name) const {
  return ValueOr(FirstMatch(range_step_, NameKey(range_name)), "");
}

std::string Knowledge::ValueIn(NameList list, std::string_view name) const {
  return ValueOr(FirstMatch(rules(list), NameKey(name)), "");
}

bool Knowledge::IsLayerRange(std::string_view range_name) const {
  return FirstMatch(range_layer_, NameKey(range_name)) != nullptr;
}

std::string Knowledge::OsCallClass(std::string_view name) const {
  return ValueOr(FirstMatch(os_call_, NameKey(name)), "other");
}

std::string Knowledge::CudaCallClass(std::string_view name) const {
  return ValueOr(FirstMatch(cuda_call_, NameKey(WithoutVersionSuffix(name))), "other");
}

std::string Knowledge::ThreadRole(std::string_view thread_or_process_name) const {
  return ValueOr(FirstMatch(thread_role_, NameKey(thread_or_process_name)), "");
}

std::vector<std::size_t> Knowledge::FamiliesOf(FamilyKind kind, std::string_view name,
                                               std::string_view kernel_class) const {
  const NameKey key(NameIn(kind, name));
  std::vector<std::size_t> found;
  const std::vector<NameFamily>& all = families(kind);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (FirstMatch(all[i].rules, key, kernel_class) != nullptr) found.push_back(i);
  }
  return found;
}

std::size_t Knowledge::FamilyIndex(FamilyKind kind, std::string_view family) const {
  const std::vector<NameFamily>& all = families(kind);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == family) return i;
  }
  std::fprintf(stderr, "kb/families.toml has no family \"%s.%.*s\"\n", FactGroupOf(kind),
               static_cast<int>(family.size()), family.data());
  std::abort();
}

bool Knowledge::IsOfFamily(FamilyKind kind, std::string_view family, std::string_view name,
                           std::string_view kernel_class) const {
  const NameFamily& known = families(kind)[FamilyIndex(kind, family)];
  return FirstMatch(known.rules, NameKey(NameIn(kind, name)), kernel_class) != nullptr;
}

std::vector<std::size_t> Knowledge::RunSignsOf(std::string_view in, std::string_view name) const {
  std::vector<std::size_t> found;
  const NameKey key(name);
  for (std::size_t i = 0; i < run_signs_.size(); ++i) {
    const RunSign& sign = run_signs_[i];
    if (!IsIn(in, sign.in)) continue;
    if (sign.rule.Matches(key)) found.push_back(i);
  }
  return found;
}

std::optional<StepSize> Knowledge::StepSizeOf(std::string_view range) const {
  for (const StepSizePattern& known : step_sizes_) {
    auto size = ReadStepSize(known.pattern, range);
    if (!size) continue;
    size->server = known.server;
    return size;
  }
  return std::nullopt;
}

std::string HardwareEntry::DisplayName() const {
  const std::string& pattern = match.empty() ? id : match.front().glob();
  std::string name;
  for (const char c : pattern)
    if (c != '*' && c != '?') name += c;
  if (!pattern.starts_with('*') || !set_by.empty()) return name;  // the whole name
  return (IsAmd() ? "AMD Instinct " : "NVIDIA ") + name;
}

const HardwareEntry* Knowledge::FindHardware(std::string_view device_name) const {
  if (device_name.empty()) return nullptr;
  const NameKey key(device_name);
  const HardwareEntry* best = nullptr;
  std::size_t best_length = 0;
  for (const HardwareEntry& entry : hardware_) {
    if (MatchesGlob(device_name, entry.id)) return &entry;
    for (const NamePattern& pattern : entry.match) {
      const bool longer = pattern.LiteralLength() > best_length ||
                          (!entry.set_by.empty() && pattern.LiteralLength() == best_length);
      if (longer && pattern.Matches(key)) {
        best = &entry;
        best_length = pattern.LiteralLength();
      }
    }
  }
  return best;
}

std::vector<Error> Knowledge::CheckExamples() const {
  std::vector<Error> errors;
  const auto check = [&](const std::vector<NameRule>& rules, bool first_wins, bool of_kernels) {
    for (const NameRule& rule : rules) {
      for (const std::string& example : rule.examples) {
        const NameKey key(example);
        const std::string kernel_class = of_kernels ? ClassifyKernel(example).name : "";
        const NameRule* found = first_wins          ? FirstMatch(rules, key, kernel_class)
                                : rule.Matches(key) ? &rule
                                                    : nullptr;
        if (found == &rule) continue;
        const std::string got =
            found == nullptr ? "by no entry" : "by the entry at " + found->where;
        errors.push_back(
            {fmt::format("example \"{}\" of \"{}\" is claimed {}", example, rule.value, got),
             rule.where, ""});
      }
    }
  };
  check(kernel_class_, true, false);
  check(kernel_precision_, true, true);
  check(kernel_tensor_, true, true);
  check(kernel_trait_, false, true);
  for (std::size_t kind = 0; kind < kFamilyKindCount; ++kind) {
    for (const NameFamily& family : families_[kind]) {
      for (const NameRule& rule : family.rules) {
        for (const std::string& example : rule.examples) {
          const std::vector<std::size_t> found =
              FamiliesOf(FamilyKind(kind), example, ClassifyKernel(example).name);
          const bool is = std::any_of(found.begin(), found.end(), [&](std::size_t i) {
            return families_[kind][i].name == family.name;
          });
          if (is) continue;
          errors.push_back(
              {fmt::format("example \"{}\" is not of family \"{}\"", example, family.name),
               rule.where, ""});
        }
      }
    }
  }
  for (const OperatorFormulas::Entry& entry : operators_.entries()) {
    for (const std::string& example : entry.names.examples) {
      if (operators_.Find(example) == &entry.formula) continue;
      errors.push_back({fmt::format("example \"{}\" is not claimed by its own entry", example),
                        entry.names.where, ""});
    }
  }
  for (const RunSign& sign : run_signs_) {
    for (const std::string& example : sign.rule.examples) {
      if (sign.rule.Matches(NameKey(example))) continue;
      errors.push_back({fmt::format("example \"{}\" is not claimed by its own entry \"{}\"",
                                    example, sign.rule.value),
                        sign.rule.where, ""});
    }
  }
  for (const StepSizePattern& size : step_sizes_) {
    for (const std::string& example : size.examples) {
      if (ReadStepSize(size.pattern, example)) continue;
      errors.push_back(
          {fmt::format("example \"{}\" does not fit its own pattern", example), size.where, ""});
    }
  }
  for (const auto* rules :
       {&range_phase_, &range_step_, &range_layer_, &os_call_, &cuda_call_, &thread_role_}) {
    check(*rules, true, false);
  }
  for (const std::vector<NameRule>& rules : name_lists_) check(rules, true, false);
  return errors;
}

}  // namespace advise
