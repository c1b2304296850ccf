package io.devicerisksignals.call

import java.io.Closeable
import java.io.IOException
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test

class CallTokenTest {
  private class Resource : Closeable {
    var closed = 0

    override fun close() {
      closed++
    }
  }

  @Test
  fun `a deadline that has passed stops the call`() {
    val token = CallToken(1)
    assertTrue(token.remainingMs() <= 2)
    Thread.sleep(5)
    assertEquals(0, token.remainingMs())
    assertThrows(CallStopped::class.java, token::check)
  }

  @Test
  fun `an open resource is closed when the call is stopped`() {
    val token = CallToken(10_000)
    val resource = Resource()
    assertThrows(CallStopped::class.java) {
      token.closing(resource) {
        token.stop()
        assertEquals(1, it.closed)
        token.check()
      }
    }
  }

  @Test
  fun `a resource that is opened after the stop is closed without being used`() {
    val token = CallToken(10_000).apply { stop() }
    val resource = Resource()
    assertThrows(CallStopped::class.java) { token.closing(resource) { error("used") } }
    assertTrue(resource.closed > 0)
  }

  @Test
  fun `a resource that was used is closed once, and not again by the stop`() {
    val token = CallToken(10_000)
    val resource = Resource()
    token.closing(resource) { assertEquals(0, it.closed) }
    token.stop()
    assertEquals(1, resource.closed)
  }

  @Test
  fun `a failure of any kind gives no value`() {
    val token = CallToken(10_000)
    assertEquals(1, token.attempt { 1 })
    assertNull(token.attempt { throw IOException("/secret/path") })
    assertNull(token.attempt { throw NoSuchMethodError("newer") })
    assertNull(token.attempt { throw SecurityException("denied") })
  }

  @Test
  fun `a failure that the stop caused ends the call`() {
    val token = CallToken(10_000)
    assertThrows(CallStopped::class.java) {
      token.attempt<Unit> {
        token.stop()
        throw IOException("closed")
      }
    }
    assertTrue(token.isStopped)
    assertFalse(CallToken(10_000).isStopped)
  }

  @Test
  fun `an unavailable probe is not treated as the failure of one field`() {
    assertThrows(Unavailable::class.java) {
      CallToken(10_000).attempt<Unit> { throw Unavailable(Lack.PERMISSION) }
    }
  }
}
