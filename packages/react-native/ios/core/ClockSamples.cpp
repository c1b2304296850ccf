#include "ClockSamples.h"

#include <algorithm>

namespace drs {

std::vector<double> clockIntervals(const std::function<std::int64_t()> &nanoseconds, std::size_t count,
                                   const Token &token) {
  std::vector<double> intervals;
  intervals.reserve(count);
  // The token is checked once per batch, because one check takes longer than the measured interval.
  constexpr std::size_t kBatch = 64;
  while (intervals.size() < count && !token.stopped()) {
    std::int64_t before = nanoseconds();
    for (std::size_t index = 0; index < kBatch && intervals.size() < count; ++index) {
      const std::int64_t now = nanoseconds();
      intervals.push_back(static_cast<double>(now - before));
      before = now;
    }
  }
  return intervals;
}

std::optional<double> smallestStep(const std::vector<double> &intervals) {
  std::optional<double> smallest;
  for (const double interval : intervals) {
    if (interval > 0) smallest = std::min(smallest.value_or(interval), interval);
  }
  return smallest;
}

}  // namespace drs
