#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../core/Token.h"

/** The images that dyld has loaded into this process. */
namespace drs::images {

double count();

/** Paths of the images, up to the limit of the interface. */
std::vector<std::string> paths(const Token &token);

/** Whether the App Store has encrypted the app's own executable. No value if this is unknown. */
std::optional<bool> isMainExecutableEncrypted();

}  // namespace drs::images
