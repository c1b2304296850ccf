package io.devicerisksignals.call

/** The reasons why no value of a probe can be read on this device or in this app, with their names in the interface. */
internal enum class Lack(val wireName: String) {
  /** The OS version or the hardware does not provide it. */
  UNSUPPORTED("unsupported"),

  /** The host app lacks a permission. */
  PERMISSION("permission")
}

/**
 * Thrown by a probe that can't run at all, or by the read of one field. Its reason is the answer if no other value is
 * read.
 */
internal class Unavailable(val lack: Lack) : RuntimeException(null, null, false, false)
