#include "Existence.h"

#include <cerrno>

namespace drs {

namespace {

bool isMissing(int error) { return error == ENOENT || error == ENOTDIR; }

Existence decide(int error, bool absent) {
  if (error == 0) return Existence::present;
  return absent ? Existence::absent : Existence::unknown;
}

}  // namespace

Presence lookAtAll(const std::vector<std::string> &names, const std::function<Existence(const std::string &)> &look,
                   const Token &token) {
  Presence presence;
  for (const auto &name : names) {
    if (token.stopped()) break;
    const Existence existence = look(name);
    if (existence == Existence::present) presence.present.push_back(name);
    if (existence == Existence::absent) presence.absent.push_back(name);
  }
  return presence;
}

Existence existenceOf(int error) { return decide(error, isMissing(error)); }

Existence writabilityOf(int error) {
  return decide(error, isMissing(error) || error == EACCES || error == EPERM || error == EROFS);
}

Existence linkOf(int error) { return decide(error, isMissing(error) || error == EINVAL); }

Existence listenerOf(int error) { return decide(error, error == ECONNREFUSED); }

}  // namespace drs
