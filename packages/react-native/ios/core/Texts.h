#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace drs {

/** A port number from 1 to 65535, written in decimal without sign, space or leading zero. */
std::optional<std::uint16_t> portOf(std::string_view text);

/**
 * Whether a Unicode date pattern (`HH:mm`, `h:mm a`) shows hours from 0 to 23 or from 1 to 24. No value if it shows no
 * hours. Quoted parts are text and not pattern.
 */
std::optional<bool> shows24Hours(std::string_view pattern);

/** Whether a text is what iOS 16 and later return in place of a carrier's data: `--`, `65535`, or an empty text. */
bool isCarrierPlaceholder(std::string_view text);

/**
 * A system of measurement in the catalog's spelling. @param label the system's own name, such as `Metric`, `U.S.` or
 * `U.K.`.
 */
std::optional<std::string> measurementSystemName(std::string_view label);

}  // namespace drs
