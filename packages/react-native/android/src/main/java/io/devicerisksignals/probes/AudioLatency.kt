package io.devicerisksignals.probes

import android.media.AudioManager
import io.devicerisksignals.call.CallScope

private const val MS_PER_SECOND = 1000.0

/** Reads what the system reports about its audio output. No sound is played or recorded for a measurement. */
internal fun audioLatency(scope: CallScope): Fields {
  val frames = Once { reported(scope, AudioManager.PROPERTY_OUTPUT_FRAMES_PER_BUFFER) }
  val rate = Once { reported(scope, AudioManager.PROPERTY_OUTPUT_SAMPLE_RATE) }
  return mapOf(
    "measured" to { frames.value != null || rate.value != null },
    "outputLatencyMs" to { bufferMs(frames.value, rate.value) },
    "framesPerBuffer" to { frames.value },
    "nativeSampleRate" to { rate.value }
  )
}

private fun reported(scope: CallScope, property: String): Int? =
  scope.service<AudioManager>().getProperty(property)?.toInt()?.takeIf { it > 0 }

/** The time for which one buffer of the output plays. */
internal fun bufferMs(frames: Int?, rate: Int?): Double? =
  if (frames == null || rate == null) null else frames * MS_PER_SECOND / rate
