package io.devicerisksignals.platform

import java.net.Inet6Address
import java.net.InetAddress
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Test

class AddressesTest {
  @Test
  fun `a link-local address, or one that contains a hardware address, is left out`() {
    listOf(
      "fe80::1c2d:3eff:fe4f:5a6b",
      "fe80::1",
      "169.254.10.20",
      "2001:db8:1:2:1c2d:3eff:fe4f:5a6b",
      "fd00::21a:2bff:fe3c:4d5e"
    ).forEach { assertNull(it, addressText(InetAddress.getByName(it))) }
  }

  @Test
  fun `other addresses are returned without their scope`() {
    assertEquals("192.168.1.23", addressText(InetAddress.getByName("192.168.1.23")))
    val private = InetAddress.getByName("fd00::8a1:d2fe:ff3c:4b5d").address
    assertEquals("fd00:0:0:0:8a1:d2fe:ff3c:4b5d", addressText(Inet6Address.getByAddress(null, private, 3)))
  }
}
