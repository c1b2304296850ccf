#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace drs {

/** A decimal port number from 1 to 65535, written without sign, space or leading zero. */
std::optional<std::uint16_t> portOf(std::string_view text);

/**
 * Whether a pattern of Unicode's date formats (`HH:mm`, `h:mm a`) shows hours from 0 to 23 or 1 to 24; no value if it
 * shows no hours. Quoted parts are text, not pattern.
 */
std::optional<bool> shows24Hours(std::string_view pattern);

/** What iOS 16 and later answer in the place of a carrier's data: `--`, `65535`, or an empty text. */
bool isCarrierPlaceholder(std::string_view text);

/** A system of measurement in the catalog's spelling; the system's own (`Metric`, `U.S.`, `U.K.`) is that of a label. */
std::optional<std::string> measurementSystemName(std::string_view label);

}  // namespace drs
