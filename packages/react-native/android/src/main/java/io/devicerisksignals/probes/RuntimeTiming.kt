package io.devicerisksignals.probes

import io.devicerisksignals.call.CallScope
import io.devicerisksignals.call.CallToken
import io.devicerisksignals.platform.Distribution

private const val SAMPLES = 4_096
private const val CHECK_EVERY = 256

/** The native half of the probe. JavaScript observes the other fields. */
internal fun runtimeTiming(scope: CallScope): Fields {
  val intervals = Once { intervals(scope.token) }
  val distribution = Once { Distribution(intervals.value) }
  return mapOf(
    "nativeClockSource" to { "system_nano_time" },
    "nativeSampleCount" to { intervals.value.size },
    "nativeTimerResolutionNs" to { intervals.value.filter { it > 0 }.minOrNull() },
    "nativeIntervalMedianNs" to { distribution.value.median },
    "nativeIntervalP95Ns" to { distribution.value.p95 },
    "nativeIntervalMadNs" to { distribution.value.mad }
  )
}

private fun intervals(token: CallToken): List<Double> {
  val samples = LongArray(SAMPLES + 1)
  for (index in samples.indices) {
    if (index % CHECK_EVERY == 0) token.check()
    samples[index] = System.nanoTime()
  }
  return List(SAMPLES) { (samples[it + 1] - samples[it]).toDouble() }
}
