#include "Addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "Bounds.h"
#include "Utf8.h"

namespace drs {

namespace {

void addOnce(std::vector<std::string> &list, std::string text) {
  if (text.empty() || list.size() >= bounds::kNetworkInterfaces) return;
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

bool isLinkLocal(const in_addr &address) { return ntohl(address.s_addr) >> 16 == 0xA9FE; }

/** Whether the interface identifier is made from a hardware address (EUI-64, RFC 4291 appendix A). */
bool isMadeFromHardware(const in6_addr &address) {
  return address.s6_addr[11] == 0xFF && address.s6_addr[12] == 0xFE;
}

/** The address as text. Empty for a link-local address, and for an address that contains a hardware address. */
std::string textOf(const sockaddr *address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, address, sizeof v4);
    if (!isLinkLocal(v4.sin_addr)) inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
  }
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, address, sizeof v6);
    const bool isOmitted = IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr) || isMadeFromHardware(v6.sin6_addr);
    if (!isOmitted) inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  }
  return text;
}

}  // namespace

Interfaces readInterfaces(const ifaddrs *list) {
  Interfaces interfaces;
  for (const ifaddrs *entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_name != nullptr) addOnce(interfaces.names, toUtf8(entry->ifa_name, IFNAMSIZ));
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_LOOPBACK) != 0) continue;
    addOnce(interfaces.addresses, textOf(entry->ifa_addr));
  }
  return interfaces;
}

}  // namespace drs
