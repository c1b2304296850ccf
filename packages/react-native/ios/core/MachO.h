#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace drs {

/**
 * Whether a Mach-O image is encrypted, by its load commands (`LC_ENCRYPTION_INFO`, `LC_ENCRYPTION_INFO_64`); an image
 * without such a command is not.
 *
 * @param commands the load commands, which follow the image's header.
 * @return no value when the commands don't hold what they claim.
 */
std::optional<bool> isEncrypted(const std::uint8_t *commands, std::size_t size, std::size_t count);

}  // namespace drs
