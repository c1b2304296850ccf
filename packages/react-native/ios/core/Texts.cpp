#include "Texts.h"

#include <charconv>

namespace drs {

std::optional<std::uint16_t> portOf(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '0') return std::nullopt;
  return port;
}

std::optional<bool> shows24Hours(std::string_view pattern) {
  bool quoted = false;
  for (const char sign : pattern) {
    if (sign == '\'') quoted = !quoted;
    if (quoted) continue;
    if (sign == 'H' || sign == 'k') return true;
    if (sign == 'h' || sign == 'K') return false;
  }
  return std::nullopt;
}

bool isCarrierPlaceholder(std::string_view text) { return text.empty() || text == "--" || text == "65535"; }

std::optional<std::string> measurementSystemName(std::string_view label) {
  if (label == "Metric") return "metric";
  if (label == "U.S.") return "us";
  if (label == "U.K.") return "uk";
  return std::nullopt;
}

}  // namespace drs
