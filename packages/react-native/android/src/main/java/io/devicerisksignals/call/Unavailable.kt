package io.devicerisksignals.call

/** Why no value of a probe can be read on this device or in this app; the names of the interface. */
internal enum class Lack(val wireName: String) {
  /** OS version or hardware lack it. */
  UNSUPPORTED("unsupported"),

  /** The host app lacks a permission. */
  PERMISSION("permission")
}

/** Thrown by a probe that can't run at all, or by a read: the reason, in case no other value is answered. */
internal class Unavailable(val lack: Lack) : RuntimeException(null, null, false, false)
