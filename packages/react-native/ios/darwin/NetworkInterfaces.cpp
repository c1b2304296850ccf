#include "NetworkInterfaces.h"

#include <ifaddrs.h>

namespace drs {

std::optional<Interfaces> networkInterfaces() {
  ifaddrs *list = nullptr;
  if (getifaddrs(&list) != 0) return std::nullopt;
  auto interfaces = readInterfaces(list);
  freeifaddrs(list);
  return interfaces;
}

}  // namespace drs
