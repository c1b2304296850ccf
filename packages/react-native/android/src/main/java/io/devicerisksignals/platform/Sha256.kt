package io.devicerisksignals.platform

import java.security.MessageDigest

/** SHA-256 in lower-case hexadecimal digits. */
internal fun sha256(bytes: ByteArray): String =
  MessageDigest.getInstance("SHA-256").digest(bytes).joinToString("") { "%02x".format(java.util.Locale.ROOT, it) }
