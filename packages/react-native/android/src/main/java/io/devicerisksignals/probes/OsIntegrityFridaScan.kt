package io.devicerisksignals.probes

import android.Manifest
import android.content.pm.PackageManager
import android.system.ErrnoException
import android.system.OsConstants
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.call.CallToken
import io.devicerisksignals.call.Lack
import io.devicerisksignals.call.Unavailable
import java.io.InputStream
import java.net.ConnectException
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.Proxy
import java.net.Socket
import java.net.SocketAddress
import java.net.SocketTimeoutException

private const val PORT = 27_042

internal fun osIntegrityFridaScan(scope: CallScope): Fields {
  val permission = scope.context.checkSelfPermission(Manifest.permission.INTERNET)
  if (permission != PackageManager.PERMISSION_GRANTED) throw Unavailable(Lack.PERMISSION)
  return fieldsOf(
    Once { LoopbackScan(PORT).run(scope.token) },
    "scanPerformed" to { true },
    "scannedPort" to { port },
    "defaultPortOpen" to { open },
    "fridaHandshakeReject" to { rejected }
  )
}

/**
 * Tries to connect to one port of this device. The SDK makes no other connection.
 *
 * A Frida server speaks D-Bus, and rejects a client that authenticates without naming a mechanism.
 *
 * @param connect connects a socket, as [Socket.connect] does; tests replace it.
 */
internal class LoopbackScan(
  private val port: Int,
  private val connect: (Socket, SocketAddress, timeoutMs: Int) -> Unit = Socket::connect
) {
  /**
   * @property open whether a program listens on the port; null if this is unknown, such as after the time limit.
   * @property rejected null if no program is known to listen, or if its answer is unknown.
   */
  class Result(val port: Int, val open: Boolean?, val rejected: Boolean?)

  /**
   * The socket uses no proxy, because a proxy that the host app has set for all sockets would lead the connection to
   * another device.
   */
  fun run(token: CallToken): Result = token.closing(Socket(Proxy.NO_PROXY)) { socket ->
    try {
      connect(socket, InetSocketAddress(InetAddress.getByAddress(LOOPBACK), port), bound(token))
    } catch (_: SocketTimeoutException) {
      return@closing Result(port, open = null, rejected = null)
    } catch (failure: ConnectException) {
      val isRefused = (failure.cause as? ErrnoException)?.errno == OsConstants.ECONNREFUSED
      return@closing Result(port, open = if (isRefused) false else null, rejected = null)
    }
    Result(port, open = true, rejected = token.attempt { isRejected(socket, token) })
  }

  private fun isRejected(socket: Socket, token: CallToken): Boolean {
    socket.soTimeout = bound(token)
    socket.getOutputStream().write(AUTH_REQUEST)
    return readStart(socket.getInputStream(), token).contentEquals(REJECTION)
  }

  /** Reads as many bytes as [REJECTION] has, or fewer if the stream ends earlier. */
  private fun readStart(input: InputStream, token: CallToken): ByteArray {
    val bytes = ByteArray(REJECTION.size)
    var length = 0
    while (length < bytes.size) {
      token.check()
      val count = input.read(bytes, length, bytes.size - length)
      if (count < 0) break
      length += count
    }
    return bytes.copyOf(length)
  }

  private fun bound(token: CallToken): Int = token.remainingMs().coerceIn(1, STEP_MS).toInt()

  private companion object {
    const val STEP_MS = 300L
    val LOOPBACK = byteArrayOf(127, 0, 0, 1)
    val AUTH_REQUEST = "\u0000AUTH\r\n".toByteArray()
    val REJECTION = "REJECT".toByteArray()
  }
}
