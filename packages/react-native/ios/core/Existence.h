#pragma once

#include <functional>
#include <string>
#include <vector>

#include "Token.h"

namespace drs {

/** The result of one look-up. A denied look-up is unknown, not absent. */
enum class Existence { present, absent, unknown };

/** `Presence` of the interface: an entry that could not be examined is in neither list. */
struct Presence {
  std::vector<std::string> present;
  std::vector<std::string> absent;
};

Presence lookAtAll(const std::vector<std::string> &names, const std::function<Existence(const std::string &)> &look,
                   const Token &token);

/** Reads the result of `access(path, F_OK)`: `error` is 0 where it succeeded, else errno. */
Existence existenceOf(int error);

/** Reads the result of `access(path, W_OK)`: a denial is an answer here. */
Existence writabilityOf(int error);

/** Reads the result of `readlink`: what exists and is no link says EINVAL. */
Existence linkOf(int error);

/** Reads the result of a connection to a port of the loopback interface. */
Existence listenerOf(int error);

}  // namespace drs
