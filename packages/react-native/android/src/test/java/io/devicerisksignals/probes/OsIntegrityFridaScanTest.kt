package io.devicerisksignals.probes

import android.Manifest
import android.system.ErrnoException
import android.system.OsConstants
import com.facebook.react.bridge.ReadableMap
import io.devicerisksignals.application
import io.devicerisksignals.ask
import io.devicerisksignals.call.CallStopped
import io.devicerisksignals.call.CallToken
import io.devicerisksignals.moduleOf
import java.io.IOException
import java.net.ConnectException
import java.net.InetAddress
import java.net.Proxy
import java.net.ProxySelector
import java.net.ServerSocket
import java.net.Socket
import java.net.SocketAddress
import java.net.URI
import kotlin.concurrent.thread
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.Shadows.shadowOf

@RunWith(RobolectricTestRunner::class)
class OsIntegrityFridaScanTest {
  @Test
  fun `a Frida server rejects the handshake`() {
    val result = scan { it.getOutputStream().write("REJECTED ANONYMOUS\r\n".toByteArray()) }
    assertEquals(true, result.open)
    assertEquals(true, result.rejected)
  }

  @Test
  fun `another server answers differently or closes the connection`() {
    assertEquals(false, scan { it.getOutputStream().write("HTTP/1.1 400\r\n".toByteArray()) }.rejected)
    assertEquals(false, scan { }.rejected)
  }

  @Test
  fun `a server that does not answer leaves the handshake unknown, and the scan ends within its time limit`() {
    val start = System.nanoTime()
    val result = scan { Thread.sleep(2_000) }
    assertEquals(true, result.open)
    assertNull(result.rejected)
    assertTrue(System.nanoTime() - start < 1_500_000_000)
  }

  @Test
  fun `a port without a listener is not open`() {
    val result = failingWith(ErrnoException("connect", OsConstants.ECONNREFUSED))
    assertEquals(false, result.open)
    assertNull(result.rejected)
  }

  @Test
  fun `a connection that fails in another or unknown way leaves the port unknown`() {
    assertNull(failingWith(ErrnoException("connect", OsConstants.ECONNREFUSED + 1)).open)
    assertNull(failingWith(null).open)
    // The exception that the JVM throws has no errno.
    val port = ServerSocket(0).use { it.localPort }
    assertNull(LoopbackScan(port).run(CallToken(10_000)).open)
  }

  @Test
  fun `proxies of the host app are not used`() {
    val asked = mutableListOf<URI>()
    val proxies = ProxySelector.getDefault()
    ProxySelector.setDefault(object : ProxySelector() {
      override fun select(uri: URI): List<Proxy> = listOf(Proxy.NO_PROXY).also { asked += uri }

      override fun connectFailed(uri: URI?, address: SocketAddress?, failure: IOException?) = Unit
    })
    try {
      assertEquals(true, scan { }.open)
    } finally {
      ProxySelector.setDefault(proxies)
    }
    assertEquals(emptyList<URI>(), asked)
  }

  @Test
  fun `a stopped call opens no connection`() {
    assertThrows(CallStopped::class.java) { LoopbackScan(1).run(CallToken(10_000).apply { stop() }) }
  }

  @Test
  fun `without the permission to open sockets the scan is unavailable`() {
    shadowOf(application).denyPermissions(Manifest.permission.INTERNET)
    val answer = moduleOf().ask("os_integrity_frida_scan", fields = listOf("scanPerformed")).value as ReadableMap
    assertEquals(mapOf("unavailable" to "permission"), answer.toHashMap())
  }

  @Test
  fun `with the permission to open sockets the scan tries the default port`() {
    shadowOf(application).grantPermissions(Manifest.permission.INTERNET)
    val answers = moduleOf().ask("os_integrity_frida_scan", fields = listOf("scanPerformed", "scannedPort")).fields
    assertEquals(mapOf("scanPerformed" to true, "scannedPort" to 27_042.0), answers)
  }

  private fun failingWith(cause: ErrnoException?): LoopbackScan.Result =
    LoopbackScan(1) { _, _, _ -> throw ConnectException().apply { initCause(cause) } }.run(CallToken(10_000))

  private fun scan(answer: (Socket) -> Unit): LoopbackScan.Result =
    ServerSocket(0, 1, InetAddress.getByAddress(byteArrayOf(127, 0, 0, 1))).use { server ->
      thread(isDaemon = true) { server.accept().use { runCatching { answer(it.also { it.getInputStream().read() }) } } }
      LoopbackScan(server.localPort).run(CallToken(10_000))
    }
}
