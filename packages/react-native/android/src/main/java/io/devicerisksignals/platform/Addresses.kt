package io.devicerisksignals.platform

import java.net.InetAddress

private const val IPV6_BYTES = 16
private const val EUI64_AT = 11
private val EUI64_MARK = byteArrayOf(0xff.toByte(), 0xfe.toByte())

/**
 * An address as text, without its scope. Null for a link-local address, and for an address that is made from a hardware
 * address (EUI-64, RFC 4291 appendix A), because such an address can identify the device or its router.
 */
internal fun addressText(address: InetAddress): String? =
  if (address.isLinkLocalAddress || isMadeFromHardware(address.address)) {
    null
  } else {
    address.hostAddress?.substringBefore('%')
  }

private fun isMadeFromHardware(bytes: ByteArray): Boolean =
  bytes.size == IPV6_BYTES && bytes.copyOfRange(EUI64_AT, EUI64_AT + EUI64_MARK.size).contentEquals(EUI64_MARK)
