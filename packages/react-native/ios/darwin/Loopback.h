#pragma once

#include <cstdint>

#include "../core/Existence.h"
#include "../core/Token.h"

/** The only place of the SDK that opens a socket; it connects only to this device. */
namespace drs::loopback {

/**
 * Whether a port of 127.0.0.1 accepts a connection, which is closed at once; no byte is sent. Bounded to a fraction of
 * a second by itself, and by the token.
 */
Existence listener(std::uint16_t port, const Token &token);

}  // namespace drs::loopback
