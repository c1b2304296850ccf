#pragma once

#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <vector>

/** The values that the fakes of the kernel and of dyld return. */
struct FakeSystem {
  std::map<std::string, std::string> sysctl = {{"hw.machine", "iPhone15,2"}};
  std::optional<bool> traced = false;
  std::optional<bool> encrypted = true;
  std::vector<std::string> images = {"/usr/lib/libSystem.B.dylib"};
  int forkError = EPERM;
  int forks = 0;
};

extern FakeSystem fakeSystem;
