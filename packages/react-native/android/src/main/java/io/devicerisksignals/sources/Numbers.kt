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

/** The fixed calculations of `numeric_consistency`. Native code does not know the expected results. */
internal fun numbers(scope: CallScope, argument: Any?): Map<String, Any> {
  val inputs = argument as Map<*, *>
  val floats = (inputs["inputs"] as List<*>).take(MAX_NUMBERS).flatMap { input -> functionsOf(input as Double) }
  // A missing number would shift all following numbers.
  check(floats.all(Double::isFinite))
  return mapOf(
    "integers" to integers(scope, inputs["seed"] as Double, (inputs["count"] as Double).toInt()),
    "floats" to floats,
    "negativeZero" to -1.0 * floats.size.coerceAtMost(0),
    "subnormal" to java.lang.Double.MIN_NORMAL / (1L shl SUBNORMAL_BITS)
  )
}

/** The smallest normal double is 2^-1022. Divided by 2^52 it is 2^-1074, the smallest subnormal double. */
private const val SUBNORMAL_BITS = 52

private fun functionsOf(x: Double) = listOf(sin(x), cos(x), exp(x), ln(x), sqrt(x))

/** The generator works modulo 2^32, and arithmetic of `Int` wraps at 2^32. */
private fun integers(scope: CallScope, seed: Double, count: Int): List<Double> {
  var x = seed.toLong().toInt()
  return List(count.coerceIn(0, MAX_NUMBERS)) {
    scope.token.check()
    x = x * MULTIPLIER + INCREMENT
    x.toUInt().toDouble()
  }
}
