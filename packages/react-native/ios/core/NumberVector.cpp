#include "NumberVector.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace drs {

namespace {

/** Hides the value from the compiler, so that the processor calculates at run time. */
double opaque(double value) {
  volatile double hidden = value;
  return hidden;
}

}  // namespace

std::optional<NumberVector> calculate(std::uint32_t seed, std::size_t count, const std::vector<double> &inputs,
                                      const Token &token) {
  NumberVector vector;
  std::uint32_t state = seed;
  for (std::size_t index = 0; index < count; ++index) {
    if (token.stopped()) return std::nullopt;
    state = state * 1664525u + 1013904223u;
    vector.integers.push_back(static_cast<double>(state));
  }
  for (const double input : inputs) {
    if (token.stopped()) return std::nullopt;
    const double x = opaque(input);
    for (const double result : {std::sin(x), std::cos(x), std::exp(x), std::log(x), std::sqrt(x)}) {
      if (!std::isfinite(result)) return std::nullopt;
      vector.floats.push_back(result);
    }
  }
  vector.negativeZero = opaque(0.0) * opaque(-1.0);
  vector.subnormal = opaque(std::numeric_limits<double>::min()) * opaque(std::numeric_limits<double>::epsilon());
  return vector;
}

}  // namespace drs
