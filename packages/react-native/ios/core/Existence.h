#pragma once

#include <functional>
#include <string>
#include <vector>

#include "Token.h"

namespace drs {

/** The result of one look-up. If the system denies the look-up, the result is unknown and not absent. */
enum class Existence { present, absent, unknown };

/** `Presence` of the interface. An entry that could not be examined is in neither list. */
struct Presence {
  std::vector<std::string> present;
  std::vector<std::string> absent;
};

Presence lookAtAll(const std::vector<std::string> &names, const std::function<Existence(const std::string &)> &look,
                   const Token &token);

/** Converts the result of `access(path, F_OK)`. `error` is 0 if the call succeeded, otherwise errno. */
Existence existenceOf(int error);

/** Converts the result of `access(path, W_OK)`. If the system denies access, the path is known not to be writable. */
Existence writabilityOf(int error);

/** Converts the result of `readlink`, which fails with EINVAL if the path exists and is no link. */
Existence linkOf(int error);

/** Converts the result of a connection to a port of the loopback interface. */
Existence listenerOf(int error);

}  // namespace drs
