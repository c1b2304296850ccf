#pragma once

#include <optional>
#include <vector>

/** Each returns no value when the samples are too few for it, or its result is not finite. */
namespace drs::statistics {

/** @param share from 0 to 1; by nearest rank, as the TypeScript half calculates it. */
std::optional<double> percentile(std::vector<double> samples, double share);

std::optional<double> median(std::vector<double> samples);

/** Median of the absolute deviations from the median, not scaled. */
std::optional<double> medianAbsoluteDeviation(std::vector<double> samples);

/** Standard deviation (of all there is, n) divided by the mean. */
std::optional<double> coefficientOfVariation(const std::vector<double> &samples);

/** Rise of the least-squares line from the first sample to the last one, divided by the mean. */
std::optional<double> relativeTrend(const std::vector<double> &samples);

}  // namespace drs::statistics
