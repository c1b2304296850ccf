// Tests the calls of ios/darwin that exist on any Unix. They run here unchanged.
#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "../../../../packages/react-native/ios/core/Addresses.h"
#include "../../../../packages/react-native/ios/darwin/Files.h"
#include "../../../../packages/react-native/ios/darwin/ForkAttempt.h"
#include "../../../../packages/react-native/ios/darwin/Loopback.h"
#include "../../../../packages/react-native/ios/darwin/NetworkInterfaces.h"

using namespace drs;

namespace {

/** A port of this machine that listens, or that has stopped listening. */
class Port {
 public:
  explicit Port(bool listens) : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(descriptor_, reinterpret_cast<sockaddr *>(&address), size) == 0);
    if (listens) REQUIRE(listen(descriptor_, 1) == 0);
    REQUIRE(getsockname(descriptor_, reinterpret_cast<sockaddr *>(&address), &size) == 0);
    number_ = ntohs(address.sin_port);
  }
  ~Port() { close(descriptor_); }
  std::uint16_t number() const { return number_; }

 private:
  int descriptor_;
  std::uint16_t number_ = 0;
};

int openDescriptors() {
  int open = 0;
  for (int descriptor = 0; descriptor < 256; ++descriptor)
    open += lseek(descriptor, 0, SEEK_CUR) >= 0 || errno != EBADF;
  return open;
}

}  // namespace

TEST_CASE("a port that listens is present, another one absent, and no socket stays open") {
  const Token token(std::chrono::hours(1));
  const Port listening(true);
  const Port closed(false);
  const int before = openDescriptors();
  CHECK(loopback::listener(listening.number(), token) == Existence::present);
  CHECK(loopback::listener(closed.number(), token) == Existence::absent);
  CHECK(openDescriptors() == before);
}

TEST_CASE("paths are examined without following links") {
  char folder[] = "/tmp/drs-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string path = folder;
  REQUIRE(symlink("/nowhere", (path + "/link").c_str()) == 0);
  CHECK(files::existence(path) == Existence::present);
  CHECK(files::existence(path + "/missing") == Existence::absent);
  CHECK(files::existence("/etc/passwd/below") == Existence::absent);
  CHECK(files::writability(path) == Existence::present);
  CHECK(files::writability(path + "/missing") == Existence::absent);
  CHECK(files::link(path + "/link") == Existence::present);
  CHECK(files::link(path) == Existence::absent);
  CHECK(files::link(path + "/missing") == Existence::absent);
  unlink((path + "/link").c_str());
  rmdir(folder);
}

TEST_CASE("environment variables are found, even with an empty value") {
  setenv("DRS_TEST_VARIABLE", "", 1);
  CHECK(files::environmentVariable("DRS_TEST_VARIABLE") == Existence::present);
  unsetenv("DRS_TEST_VARIABLE");
  CHECK(files::environmentVariable("DRS_TEST_VARIABLE") == Existence::absent);
}

TEST_CASE("a child is waited for, even after the caller has stopped waiting") {
  CHECK(attemptFork(Token(std::chrono::hours(1))) == 0);
  CHECK(attemptFork(Token(std::chrono::seconds(0))) == 0);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("this machine's interfaces are read") {
  const auto interfaces = networkInterfaces();
  REQUIRE(interfaces);
  CHECK_FALSE(interfaces->names.empty());
}

namespace {

sockaddr_in v4Of(const char *text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, text, &address.sin_addr);
  return address;
}

sockaddr_in6 v6Of(const char *text) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  inet_pton(AF_INET6, text, &address.sin6_addr);
  return address;
}

template <typename Address>
std::vector<std::string> addressesOn(Address address, unsigned flags = 0) {
  char name[] = "en0";
  ifaddrs entry = {nullptr, name, flags, reinterpret_cast<sockaddr *>(&address), nullptr, {nullptr}, nullptr};
  return readInterfaces(&entry).addresses;
}

}  // namespace

TEST_CASE("an address that holds a hardware address or is link-local is left out") {
  // The addresses contain the index of the interface, as on Darwin.
  for (const char *text : {"fe80::1", "fe80:4::1c2d:3eff:fe4f:5a6b", "2001:db8:1:2:1c2d:3eff:fe4f:5a6b",
                           "fd00::21a:2bff:fe3c:4d5e"}) {
    INFO(text);
    CHECK(addressesOn(v6Of(text)).empty());
  }
  CHECK(addressesOn(v4Of("169.254.10.20")).empty());
}

TEST_CASE("other addresses are returned, except loopback") {
  CHECK(addressesOn(v6Of("fd00::8a1:d2fe:ff3c:4b5d")) == std::vector<std::string>{"fd00::8a1:d2fe:ff3c:4b5d"});
  CHECK(addressesOn(v4Of("192.0.2.7")) == std::vector<std::string>{"192.0.2.7"});
  CHECK(addressesOn(v4Of("127.0.0.1"), IFF_LOOPBACK).empty());
}

TEST_CASE("each interface is named once, with an address or without one") {
  char en0[] = "en0";
  char lo0[] = "lo0";
  ifaddrs entries[3] = {};
  entries[0] = {&entries[1], lo0, IFF_LOOPBACK, nullptr, nullptr, {nullptr}, nullptr};
  entries[1] = {&entries[2], en0, 0, nullptr, nullptr, {nullptr}, nullptr};
  entries[2] = {nullptr, en0, 0, nullptr, nullptr, {nullptr}, nullptr};
  CHECK(readInterfaces(entries).names == std::vector<std::string>{"lo0", "en0"});
}
