package io.devicerisksignals.sources

import android.os.Build
import io.devicerisksignals.call.CallStopped
import io.devicerisksignals.call.CallToken
import io.devicerisksignals.scopeOf
import kotlin.math.sin
import kotlin.math.sqrt
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.shadows.ShadowBuild
import org.robolectric.shadows.ShadowSystemProperties

@RunWith(RobolectricTestRunner::class)
class SourcesTest {
  @Test
  fun `a stack trace names class and method`() {
    val frames = gather("stack", true) as List<*>
    assertTrue(frames.contains("io.devicerisksignals.sources.SourcesTest.gather"))
    assertTrue(frames.size <= 256)
  }

  @Test
  fun `the constants of the build are read`() {
    ShadowBuild.setModel("Example")
    ShadowBuild.setTags("test-keys")
    val build = gather("build", true) as Map<*, *>
    assertEquals("Example", build["model"])
    assertEquals("test-keys", build["tags"])
    if (Build.VERSION.SDK_INT < Build.VERSION_CODES.S) assertEquals(null, build["socModel"])
  }

  @Test
  fun `a property with a value is read, and a property that looks unset is unknown without the system's index`() {
    ShadowSystemProperties.override("ro.example", "1")
    val properties = gather("properties", listOf("ro.example", "ro.example.unset")) as Map<*, *>
    assertEquals("1", properties["ro.example"])
    assertEquals(null, properties["ro.example.unset"])
  }

  @Test
  fun `the fixed calculations have their published results`() {
    val inputs = mapOf("seed" to 1.0, "count" to 3.0, "inputs" to listOf(1.0, 2.0))
    val numbers = gather("numbers", inputs) as Map<*, *>
    assertEquals(listOf(1_015_568_748.0, 1_586_005_467.0, 2_165_703_038.0), numbers["integers"])
    val floats = numbers["floats"] as List<*>
    assertEquals(10, floats.size)
    assertEquals(sin(1.0), floats[0])
    assertEquals(sqrt(2.0), floats[9])
    assertEquals((-0.0).toRawBits(), (numbers["negativeZero"] as Double).toRawBits())
    assertEquals(Double.MIN_VALUE, numbers["subnormal"])
  }

  @Test
  fun `a result that is not finite makes all results unknown`() {
    assertThrows(IllegalStateException::class.java) {
      gather("numbers", mapOf("seed" to 1.0, "count" to 1.0, "inputs" to listOf(-1.0)))
    }
  }

  @Test
  fun `calculations end with the call`() {
    val token = CallToken(10_000).apply { stop() }
    val inputs = mapOf("seed" to 1.0, "count" to 10.0, "inputs" to listOf(1.0))
    assertThrows(CallStopped::class.java) {
      SOURCES.getValue("numbers")(scopeOf("numeric_consistency", token = token), inputs)
    }
  }

  @Test
  fun `a source that only iOS has is unknown here`() {
    for (source in listOf("images", "schemes", "links", "writablePaths", "ports", "parentPid", "proxies")) {
      assertFalse(source in SOURCES)
    }
  }

  private fun gather(source: String, argument: Any) = SOURCES.getValue(source)(scopeOf("os_integrity"), argument)
}
