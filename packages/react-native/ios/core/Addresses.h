#pragma once

#include <string>
#include <vector>

struct ifaddrs;

namespace drs {

/** What the system's list of network interfaces contains. */
struct Interfaces {
  /** Names of the interfaces in the system's order. Each name occurs once. */
  std::vector<std::string> names;
  /**
   * IPv4 and IPv6 addresses of interfaces other than loopback. Link-local addresses are left out, and so are addresses
   * that are made from a hardware address (EUI-64), because they would identify the device.
   */
  std::vector<std::string> addresses;
};

Interfaces readInterfaces(const ifaddrs *list);

}  // namespace drs
