package io.devicerisksignals.probes

import android.media.AudioManager
import io.devicerisksignals.call.CallScope

/**
 * What the system states of its own output. `outputLatencyMs` has no public read on Android and is never answered;
 * nothing is played or recorded to measure it.
 */
internal fun audioLatency(scope: CallScope): Fields {
  val frames = Once { stated(scope, AudioManager.PROPERTY_OUTPUT_FRAMES_PER_BUFFER) }
  val rate = Once { stated(scope, AudioManager.PROPERTY_OUTPUT_SAMPLE_RATE) }
  return mapOf(
    "measured" to { frames.value != null || rate.value != null },
    "framesPerBuffer" to { frames.value },
    "nativeSampleRate" to { rate.value }
  )
}

private fun stated(scope: CallScope, property: String): Int? =
  scope.service<AudioManager>().getProperty(property)?.toInt()?.takeIf { it > 0 }
