// The entry point: ONNX Runtime loads the library and calls RegisterCustomOps.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "core/errors.h"
#include "operators.h"

namespace backslice::onnxruntime {
namespace {

struct Member {
  const char* domain;
  const OpDescription& op;
};

constexpr const char* kMicrosoft = "com.microsoft";

const Member kMembers[] = {
    {"backslice", kSliceGrad},      {"backslice", kStridedSliceGrad}, {"backslice", kSliceGradAccumulate},
    {"backslice", kMultiSliceGrad}, {"backslice", kSparseSliceGrad},  {"backslice", kRaggedGradient},
    {kMicrosoft, kSliceGrad},
};

bool has_indices(const OpDescription& op) {
  return std::ranges::any_of(op.inputs, [](const InputDescription& input) { return input.type == InputType::Index; });
}

/// The entries of session options, which programs set and libraries of operators read.
class ConfigEntries {
 public:
  ConfigEntries(const Api& api, OrtSessionOptions* options) : api_(api), options_(options) {}

  bool has(const std::string& key) const {
    int exists = 0;
    api_.require(slots::kHasSessionConfigEntry, options_, key.c_str(), &exists);
    return exists != 0;
  }

  std::string get(const std::string& key) const {
    std::size_t size = 0;  // includes the terminating zero
    api_.require(slots::kGetSessionConfigEntry, options_, key.c_str(), nullptr, &size);
    std::string value(size, '\0');
    api_.require(slots::kGetSessionConfigEntry, options_, key.c_str(), value.data(), &size);
    value.resize(size - 1);
    return value;
  }

  void set(const std::string& key, const char* value) const {
    api_.require(slots::kAddSessionConfigEntry, options_, key.c_str(), value);
  }

 private:
  const Api& api_;
  OrtSessionOptions* options_;
};

/// Returns whether the program requests SliceGrad in domain com.microsoft.
///
/// By default it is not registered there. ONNX Runtime gives custom domains version 1000, which becomes the version of
/// com.microsoft in every model that does not import this domain. In that version it finds none of its own operators,
/// so the session fails as soon as the optimiser makes one, such as FusedGemm.
bool wants_microsoft(const ConfigEntries& entries) {
  constexpr const char* kKey = "custom_op.SliceGrad.domain";
  if (!entries.has(kKey)) return false;
  const std::string domain = entries.get(kKey);
  if (domain != kMicrosoft) {
    refuse(invalid_argument(kKey, " is \"", domain, "\", expected \"", kMicrosoft, "\"; SliceGrad is in domain ",
                            "backslice in any case"));
  }
  return true;
}

/// Our operators for one ONNX Runtime. Sessions refer to them until they end. We cannot know when the last one ends, so
/// operators are kept until the process ends.
class Domains {
 public:
  explicit Domains(const Api& api) : api_(api) {
    for (const auto& [domain, op] : kMembers) {
      add(domain, ops_.emplace_back(api, op, kInt64));
      if (has_indices(op)) add(domain, ops_.emplace_back(api, op, kInt32));
    }
  }

  /// Adds the missing domains to the options: ONNX Runtime refuses sessions with two domains of one name.
  void add_to(OrtSessionOptions* options) const {
    const ConfigEntries entries(api_, options);
    const bool with_microsoft = wants_microsoft(entries);
    for (const auto& [name, domain] : domains_) {
      const std::string added = join("backslice.registered.", name);
      if ((name == kMicrosoft && !with_microsoft) || entries.has(added)) continue;
      api_.require(slots::kAddCustomOpDomain, options, domain);
      entries.set(added, "1");
    }
  }

 private:
  void add(const char* name, const Op& op) {
    OrtCustomOpDomain*& domain = domains_[name];
    if (domain == nullptr) api_.require(slots::kCreateCustomOpDomain, name, &domain);
    api_.require(slots::kCustomOpDomainAdd, domain, &op);
  }

  Api api_;
  std::deque<Op> ops_;
  std::map<std::string, OrtCustomOpDomain*> domains_;
};

/// Returns those of this ONNX Runtime; a process may have loaded several.
const Domains& domains_of(const Api& api) {
  static std::mutex mutex;
  static auto& made = *new std::map<const OrtApi*, std::unique_ptr<Domains>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Domains>& domains = made[api.table()];
  if (domains == nullptr) domains = std::make_unique<Domains>(api);
  return *domains;
}

/// Returns the version of the interface for a version such as "1.16.3", which is the minor number; 0 if it is too old.
/// Requesting a version that ONNX Runtime lacks would make it write to the error output.
std::uint32_t interface_of(const char* version) {
  unsigned major = 0, minor = 0;
  if (std::sscanf(version, "%u.%u", &major, &minor) != 2 || major > 1) return kApi;
  if (major < 1 || minor < kApi) return 0;
  return minor < kLatestApi ? kApi : kLatestApi;
}

OrtStatus* register_ops(OrtSessionOptions* options, const OrtApiBase& base) {
  const char* version = base.get_version_string();
  const std::uint32_t interface = interface_of(version);
  const OrtApi* table = interface == 0 ? nullptr : base.get_api(interface);
  if (table != nullptr) {
    const Api api(table, interface);
    return api.guarded([&] { domains_of(api).add_to(options); });
  }
  const Api oldest(base.get_api(1));  // always exists, and can report errors
  return oldest.guarded([&] {
    refuse(invalid_argument("backslice's operators need ONNX Runtime 1.", kApi, " or later, but this is ", version));
  });
}

}  // namespace
}  // namespace backslice::onnxruntime

extern "C" __attribute__((visibility("default"))) OrtStatus* RegisterCustomOps(OrtSessionOptions* options,
                                                                               const OrtApiBase* base) {
  return backslice::onnxruntime::register_ops(options, *base);
}
