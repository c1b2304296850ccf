#pragma once

#include <string>
#include <vector>

struct ifaddrs;

namespace drs {

/** What the list of network interfaces says. */
struct Interfaces {
  /** Each name once, in the system's order. */
  std::vector<std::string> names;
  /**
   * IPv4 and IPv6 addresses of interfaces other than loopback, without link-local ones and without those made from a
   * hardware address (EUI-64), which would identify the device.
   */
  std::vector<std::string> addresses;
};

Interfaces readInterfaces(const ifaddrs *list);

}  // namespace drs
