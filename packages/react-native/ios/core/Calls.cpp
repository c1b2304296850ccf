#include "Calls.h"

#include <algorithm>
#include <cmath>

namespace drs {

namespace {

/** The maximum time limit of a call. It also keeps the sum with the clock from overflowing. */
constexpr double kLongestMilliseconds = 10 * 60 * 1000;

Token::Clock::duration budgetOf(double milliseconds) {
  if (std::isnan(milliseconds)) return {};
  const std::chrono::duration<double, std::milli> bounded(std::clamp(milliseconds, 0.0, kLongestMilliseconds));
  return std::chrono::duration_cast<Token::Clock::duration>(bounded);
}

}  // namespace

std::shared_ptr<Token> Calls::begin(const std::string &call, double milliseconds) {
  auto token = std::make_shared<Token>(budgetOf(milliseconds));
  std::lock_guard lock(mutex_);
  running_.emplace(call, token);
  return token;
}

void Calls::end(const std::string &call, const std::shared_ptr<Token> &token) {
  std::lock_guard lock(mutex_);
  const auto [first, last] = running_.equal_range(call);
  const auto found = std::find_if(first, last, [&](const auto &entry) { return entry.second == token; });
  if (found != last) running_.erase(found);
}

void Calls::cancel(const std::string &call) {
  std::lock_guard lock(mutex_);
  const auto [first, last] = running_.equal_range(call);
  std::for_each(first, last, [](const auto &entry) { entry.second->cancel(); });
}

void Calls::cancelAll() {
  std::lock_guard lock(mutex_);
  for (const auto &entry : running_) entry.second->cancel();
}

}  // namespace drs
