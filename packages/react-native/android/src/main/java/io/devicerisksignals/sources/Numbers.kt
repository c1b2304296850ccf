package io.devicerisksignals.sources

import io.devicerisksignals.call.CallScope
import kotlin.math.cos
import kotlin.math.exp
import kotlin.math.ln
import kotlin.math.sin
import kotlin.math.sqrt

private const val MULTIPLIER = 1_664_525
private const val INCREMENT = 1_013_904_223
private const val MAX_NUMBERS = 8_192

/** The fixed calculations of `numeric_consistency`; what they should come to is not for native code to say. */
internal fun numbers(scope: CallScope, argument: Any?): Map<String, Any> {
  val inputs = argument as Map<*, *>
  val floats = (inputs["inputs"] as List<*>).take(MAX_NUMBERS).flatMap { input -> functionsOf(input as Double) }
  // A gap would move all that follow it.
  check(floats.all(Double::isFinite))
  return mapOf(
    "integers" to integers(scope, inputs["seed"] as Double, (inputs["count"] as Double).toInt()),
    "floats" to floats,
    "negativeZero" to -1.0 * floats.size.coerceAtMost(0),
    "subnormal" to java.lang.Double.MIN_NORMAL / (1L shl SUBNORMAL_BITS)
  )
}

/** The number of bits from 2^-1022, the smallest normal double, to 2^-1074. */
private const val SUBNORMAL_BITS = 52

private fun functionsOf(x: Double) = listOf(sin(x), cos(x), exp(x), ln(x), sqrt(x))

/** Arithmetic of `Int` wraps at 2^32, as the generator needs it. */
private fun integers(scope: CallScope, seed: Double, count: Int): List<Double> {
  var x = seed.toLong().toInt()
  return List(count.coerceIn(0, MAX_NUMBERS)) {
    scope.token.check()
    x = x * MULTIPLIER + INCREMENT
    x.toUInt().toDouble()
  }
}
