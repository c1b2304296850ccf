#include "MachO.h"

#include <cstring>

namespace drs {

namespace {

constexpr std::uint32_t kEncryptionInfo = 0x21;
constexpr std::uint32_t kEncryptionInfo64 = 0x2C;
constexpr std::size_t kCommandHeader = 2 * sizeof(std::uint32_t);
/** The offset of `cryptid` in both commands: the header of the command, `cryptoff` and `cryptsize` precede it. */
constexpr std::size_t kCryptId = 4 * sizeof(std::uint32_t);

std::uint32_t read32(const std::uint8_t *bytes) {
  std::uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace

std::optional<bool> isEncrypted(const std::uint8_t *commands, std::size_t size, std::size_t count) {
  std::size_t at = 0;
  for (std::size_t index = 0; index < count; ++index) {
    if (size - at < kCommandHeader) return std::nullopt;
    const std::uint32_t kind = read32(commands + at);
    const std::size_t length = read32(commands + at + sizeof kind);
    if (length < kCommandHeader || length > size - at) return std::nullopt;
    if (kind == kEncryptionInfo || kind == kEncryptionInfo64) {
      if (length < kCryptId + sizeof(std::uint32_t)) return std::nullopt;
      return read32(commands + at + kCryptId) != 0;
    }
    at += length;
  }
  return false;
}

}  // namespace drs
