#pragma once

#include <optional>
#include <vector>

/** Each function returns no value if there are too few samples, or if its result is not finite. */
namespace drs::statistics {

/** The percentile by the nearest-rank method, as the TypeScript half calculates it. @param share from 0 to 1. */
std::optional<double> percentile(std::vector<double> samples, double share);

std::optional<double> median(std::vector<double> samples);

/** Median of the absolute deviations from the median, not scaled. */
std::optional<double> medianAbsoluteDeviation(std::vector<double> samples);

/** Standard deviation of the whole population (divisor n), divided by the mean. */
std::optional<double> coefficientOfVariation(const std::vector<double> &samples);

/** The rise of the least-squares line from the first sample to the last one, divided by the mean. */
std::optional<double> relativeTrend(const std::vector<double> &samples);

}  // namespace drs::statistics
