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

std::string textOf(const sockaddr *address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, address, sizeof v4);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
  }
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, address, sizeof v6);
    // Darwin keeps the interface's index inside link-local addresses.
    if (IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr)) v6.sin6_addr.s6_addr[2] = v6.sin6_addr.s6_addr[3] = 0;
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
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
