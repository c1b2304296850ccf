package io.devicerisksignals.call

import com.facebook.react.bridge.Arguments
import com.facebook.react.bridge.WritableArray
import com.facebook.react.bridge.WritableMap

/**
 * Converts Kotlin's values into values of the bridge. Only this class does so. Every number becomes a double, and a
 * boolean stays a boolean. A value that was not read (null, or a number that is not finite) is left out together with
 * its key.
 */
internal class BridgeValues(
  private val newMap: () -> WritableMap = Arguments::createMap,
  private val newArray: () -> WritableArray = Arguments::createArray
) {
  fun mapOf(members: Map<*, *>): WritableMap {
    val map = newMap()
    for ((key, value) in members) {
      val name = key as String
      when (value) {
        null -> Unit
        is Boolean -> map.putBoolean(name, value)
        is Number -> value.toDouble().takeIf(Double::isFinite)?.let { map.putDouble(name, it) }
        is String -> map.putString(name, value)
        is Map<*, *> -> map.putMap(name, mapOf(value))
        is List<*> -> map.putArray(name, arrayOf(value))
        else -> throw IllegalArgumentException("the bridge has no type for this value")
      }
    }
    return map
  }

  private fun arrayOf(values: List<*>): WritableArray {
    val array = newArray()
    for (value in values) {
      when (value) {
        is Number -> value.toDouble().takeIf(Double::isFinite)?.let(array::pushDouble)
        is String -> array.pushString(value)
        else -> throw IllegalArgumentException("the bridge has no type for this value")
      }
    }
    return array
  }
}
