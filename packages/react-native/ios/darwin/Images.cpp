#include "Images.h"

#include <mach-o/dyld.h>
#include <mach-o/loader.h>

#include <algorithm>

#include "../core/Bounds.h"
#include "../core/MachO.h"
#include "../core/Utf8.h"

namespace drs::images {

double count() { return static_cast<double>(_dyld_image_count()); }

std::vector<std::string> paths(const Token &token) {
  std::vector<std::string> paths;
  const auto last = std::min<std::uint32_t>(_dyld_image_count(), bounds::kImages);
  for (std::uint32_t index = 0; index < last && !token.stopped(); ++index) {
    // The name is null if the image was unloaded in the meantime.
    if (const char *name = _dyld_get_image_name(index)) paths.push_back(toUtf8(name, bounds::kTextBytes));
  }
  return paths;
}

std::optional<bool> isMainExecutableEncrypted() {
  const auto last = std::min<std::uint32_t>(_dyld_image_count(), bounds::kImages);
  for (std::uint32_t index = 0; index < last; ++index) {
    const mach_header *header = _dyld_get_image_header(index);
    if (header == nullptr || header->filetype != MH_EXECUTE || header->magic != MH_MAGIC_64) continue;
    const auto *commands = reinterpret_cast<const std::uint8_t *>(header) + sizeof(mach_header_64);
    return isEncrypted(commands, header->sizeofcmds, header->ncmds);
  }
  return std::nullopt;
}

}  // namespace drs::images
