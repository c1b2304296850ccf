#include "Statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace drs::statistics {

namespace {

std::optional<double> finite(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

double mean(const std::vector<double> &samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

}  // namespace

std::optional<double> percentile(std::vector<double> samples, double share) {
  if (samples.empty()) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  const double rank = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(samples.size()));
  return finite(samples[rank < 1 ? 0 : static_cast<std::size_t>(rank) - 1]);
}

std::optional<double> median(std::vector<double> samples) { return percentile(std::move(samples), 0.5); }

std::optional<double> medianAbsoluteDeviation(std::vector<double> samples) {
  const auto middle = median(samples);
  if (!middle) return std::nullopt;
  for (double &sample : samples) sample = std::fabs(sample - *middle);
  return median(std::move(samples));
}

std::optional<double> coefficientOfVariation(const std::vector<double> &samples) {
  if (samples.size() < 2) return std::nullopt;
  const double middle = mean(samples);
  double squares = 0;
  for (const double sample : samples) squares += (sample - middle) * (sample - middle);
  return finite(std::sqrt(squares / static_cast<double>(samples.size())) / middle);
}

std::optional<double> relativeTrend(const std::vector<double> &samples) {
  if (samples.size() < 2) return std::nullopt;
  const double last = static_cast<double>(samples.size() - 1);
  const double middle = mean(samples);
  double products = 0;
  double squares = 0;
  for (std::size_t index = 0; index < samples.size(); ++index) {
    const double distance = static_cast<double>(index) - last / 2;
    products += distance * (samples[index] - middle);
    squares += distance * distance;
  }
  return finite(products / squares * last / middle);
}

}  // namespace drs::statistics
