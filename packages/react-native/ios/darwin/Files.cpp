#include "Files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace drs::files {

Existence existence(const std::string &path) { return existenceOf(access(path.c_str(), F_OK) == 0 ? 0 : errno); }

Existence writability(const std::string &path) { return writabilityOf(access(path.c_str(), W_OK) == 0 ? 0 : errno); }

Existence link(const std::string &path) {
  char target;
  return linkOf(readlink(path.c_str(), &target, sizeof target) >= 0 ? 0 : errno);
}

Existence environmentVariable(const std::string &name) {
  return std::getenv(name.c_str()) != nullptr ? Existence::present : Existence::absent;
}

}  // namespace drs::files
