#include "Utf8.h"

#include <cstdint>

namespace drs {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/** The bytes that may follow a lead byte: their number, and the range of the first of them (Unicode, table 3-7). */
struct Sequence {
  std::size_t following;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
};

Sequence sequenceOf(std::uint8_t lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return {1};
  if (lead == 0xE0) return {2, 0xA0};
  if (lead == 0xED) return {2, 0x80, 0x9F};
  if (lead >= 0xE1 && lead <= 0xEF) return {2};
  if (lead == 0xF0) return {3, 0x90};
  if (lead == 0xF4) return {3, 0x80, 0x8F};
  if (lead >= 0xF1 && lead <= 0xF3) return {3};
  return {0};
}

}  // namespace

std::string toUtf8(std::string_view bytes, std::size_t limit) {
  bytes = bytes.substr(0, limit);
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const auto byte = [&](std::size_t index) { return static_cast<std::uint8_t>(bytes[index]); };
    if (byte(at) < 0x80) {
      text += bytes[at++];
      continue;
    }
    auto [following, low, high] = sequenceOf(byte(at));
    std::size_t end = at + 1;
    while (end - at <= following && end < bytes.size() && byte(end) >= low && byte(end) <= high) {
      low = 0x80;
      high = 0xBF;
      ++end;
    }
    const bool whole = following > 0 && end - at == following + 1;
    text += whole ? bytes.substr(at, end - at) : kReplacement;
    at = end;
  }
  return text;
}

}  // namespace drs
