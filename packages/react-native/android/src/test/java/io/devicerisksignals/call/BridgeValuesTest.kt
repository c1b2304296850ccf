package io.devicerisksignals.call

import com.facebook.react.bridge.JavaOnlyArray
import com.facebook.react.bridge.JavaOnlyMap
import com.facebook.react.bridge.ReadableType
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertThrows
import org.junit.Test

class BridgeValuesTest {
  private val values = BridgeValues({ JavaOnlyMap() }, { JavaOnlyArray() })

  @Test
  fun `booleans stay booleans and every number becomes a double`() {
    val map = values.mapOf(mapOf("yes" to true, "int" to 1, "long" to 5_000_000_000L, "float" to 0.5f))
    assertEquals(ReadableType.Boolean, map.getType("yes"))
    assertEquals(true, map.getBoolean("yes"))
    for ((name, number) in mapOf("int" to 1.0, "long" to 5e9, "float" to 0.5)) {
      assertEquals(number, map.toHashMap()[name])
    }
  }

  @Test
  fun `members that were not read or are not finite are left out`() {
    val map = values.mapOf(
      mapOf("nothing" to null, "nan" to Double.NaN, "endless" to Float.POSITIVE_INFINITY, "zero" to 0, "empty" to "")
    )
    assertEquals(setOf("zero", "empty"), map.toHashMap().keys)
    assertFalse(map.hasKey("nan"))
  }

  @Test
  fun `nested objects and lists are converted`() {
    val map = values.mapOf(mapOf("a" to mapOf("b" to listOf("c"), "d" to null), "e" to listOf(1, 2.5)))
    assertEquals(mapOf("a" to mapOf("b" to listOf("c")), "e" to listOf(1.0, 2.5)), plain(map))
  }

  @Test
  fun `a value of any other type is rejected`() {
    assertThrows(IllegalArgumentException::class.java) { values.mapOf(mapOf("object" to Any())) }
    assertThrows(IllegalArgumentException::class.java) { values.mapOf(mapOf("list" to listOf(null))) }
  }
}
