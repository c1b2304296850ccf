#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace drs {

/**
 * Whether a Mach-O image is encrypted, by its load commands (`LC_ENCRYPTION_INFO`, `LC_ENCRYPTION_INFO_64`). An image
 * without such a command is not encrypted.
 *
 * @param commands the load commands, which follow the image's header.
 * @return no value if the sizes in the commands are wrong.
 */
std::optional<bool> isEncrypted(const std::uint8_t *commands, std::size_t size, std::size_t count);

}  // namespace drs
