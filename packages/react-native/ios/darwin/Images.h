#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../core/Token.h"

/** What dyld has loaded into this process. */
namespace drs::images {

double count();

/** Paths, no more than the interface's bound. */
std::vector<std::string> paths(const Token &token);

/** Whether the app's own executable has App Store encryption; no value when that is unknown. */
std::optional<bool> isMainExecutableEncrypted();

}  // namespace drs::images
