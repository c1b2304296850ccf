#include <doctest/doctest.h>

#include <cmath>

#include "../../../../packages/react-native/ios/core/ClockSamples.h"
#include "../../../../packages/react-native/ios/core/NumberVector.h"
#include "../../../../packages/react-native/ios/core/Statistics.h"

using namespace drs;
using namespace drs::statistics;
using doctest::Approx;

TEST_CASE("percentiles follow the nearest-rank method") {
  CHECK(percentile({4, 1, 3, 2}, 0.5) == 2);
  CHECK(percentile({10, 20}, 0.95) == 20);
  CHECK(percentile({7}, 0.95) == 7);
  CHECK(percentile({1, 2, 3}, 2) == 3);
  CHECK(percentile({1, 2, 3}, 0) == 1);
}

TEST_CASE("deviation and trend are those of the samples") {
  CHECK(medianAbsoluteDeviation({1, 1, 2, 2, 4, 6, 9}) == 1);
  CHECK(coefficientOfVariation({2, 4, 4, 4, 5, 5, 7, 9}).value() == Approx(0.4));
  CHECK(relativeTrend({1, 2, 3}).value() == Approx(1));
  CHECK(relativeTrend({3, 2, 1}).value() == Approx(-1));
  CHECK(relativeTrend({5, 5, 5}).value() == Approx(0));
}

TEST_CASE("too few samples, or no finite ones, yield no value") {
  CHECK_FALSE(median({}));
  CHECK_FALSE(medianAbsoluteDeviation({}));
  CHECK_FALSE(coefficientOfVariation({1}));
  CHECK_FALSE(relativeTrend({1}));
  CHECK_FALSE(coefficientOfVariation({0, 0}));
  CHECK_FALSE(median({INFINITY}));
}

TEST_CASE("a clock's samples are taken") {
  const Token token(std::chrono::hours(1));
  std::int64_t now = 0;
  const auto intervals = clockIntervals([&] { return now += now % 83 == 0 ? 41 : 42; }, 100, token);
  CHECK(intervals.size() == 100);
  CHECK(smallestStep(intervals) == 41);
  CHECK_FALSE(smallestStep({0, 0}));
}

TEST_CASE("a stopped token ends sampling") {
  Token token(std::chrono::hours(1));
  token.cancel();
  CHECK(clockIntervals([] { return 0; }, 100, token).empty());
}

TEST_CASE("the number vector has the results that the interface defines") {
  const Token token(std::chrono::hours(1));
  const auto vector = calculate(1, 3, {0.5, 2}, token);
  REQUIRE(vector);
  CHECK(vector->integers == std::vector<double>{1015568748, 1586005467, 2165703038});
  CHECK(vector->floats.size() == 10);
  CHECK(vector->floats[4] == std::sqrt(0.5));
  CHECK(vector->floats[8] == std::log(2.0));
  CHECK(std::signbit(vector->negativeZero));
  CHECK(vector->negativeZero == 0);
  CHECK(vector->subnormal == std::ldexp(1.0, -1074));
}

TEST_CASE("a result that is not finite leaves the whole vector out") {
  const Token token(std::chrono::hours(1));
  CHECK_FALSE(calculate(1, 0, {1, -1}, token));
  CHECK_FALSE(calculate(1, 0, {1e9}, token));
}
