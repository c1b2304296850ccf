#pragma once

#include <cstdint>

#include "../core/Existence.h"
#include "../core/Token.h"

/** The only part of the iOS code that opens a socket. It connects only to this device. */
namespace drs::loopback {

/**
 * Whether a port of 127.0.0.1 accepts a connection. The connection is closed at once, and no byte is sent. The attempt
 * ends after a fraction of a second, or when the token stops.
 */
Existence listener(std::uint16_t port, const Token &token);

}  // namespace drs::loopback
