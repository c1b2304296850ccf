#include "ForkResult.h"

#include <cerrno>

namespace drs {

std::optional<bool> mayFork(int error) {
  if (error == EAGAIN || error == ENOMEM) return std::nullopt;
  return error == 0;
}

}  // namespace drs
