// Replaces the parts of ios/darwin that exist only on Darwin. The other files of that folder run unchanged.
#include <cerrno>

#include "../../../../packages/react-native/ios/darwin/ForkAttempt.h"
#include "../../../../packages/react-native/ios/darwin/Images.h"
#include "../../../../packages/react-native/ios/darwin/Kernel.h"
#include "../../../../packages/react-native/ios/darwin/Sha256.h"
#include "FakeSystem.h"

FakeSystem fakeSystem;

namespace drs {

namespace kernel {

std::optional<std::string> text(const char *name) {
  const auto found = fakeSystem.sysctl.find(name);
  if (found == fakeSystem.sysctl.end()) return std::nullopt;
  return found->second;
}
std::optional<bool> isTraced() { return fakeSystem.traced; }
std::int32_t parentPid() { return 1; }
std::optional<double> residentBytes() { return 2e8; }
std::optional<double> freeBytes() { return std::nullopt; }

}  // namespace kernel

namespace images {

double count() { return static_cast<double>(fakeSystem.images.size()); }
std::vector<std::string> paths(const Token &) { return fakeSystem.images; }
std::optional<bool> isMainExecutableEncrypted() { return fakeSystem.encrypted; }

}  // namespace images

int attemptFork(const Token &) {
  ++fakeSystem.forks;
  return fakeSystem.forkError;
}

std::string sha256(std::string_view bytes) { return "digest of " + std::string(bytes); }

}  // namespace drs
