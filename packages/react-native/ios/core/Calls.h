#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "Token.h"

namespace drs {

/** The calls that run now, by the names that JavaScript gave them. Any thread may use this object. */
class Calls {
 public:
  /** @param milliseconds time after which the token stops by itself. */
  std::shared_ptr<Token> begin(const std::string &call, double milliseconds);
  void end(const std::string &call, const std::shared_ptr<Token> &token);
  void cancel(const std::string &call);
  void cancelAll();

 private:
  std::mutex mutex_;
  std::unordered_multimap<std::string, std::shared_ptr<Token>> running_;
};

}  // namespace drs
