package io.devicerisksignals.probes

import android.media.AudioManager
import android.os.PowerManager
import io.devicerisksignals.call.CallScope

/** What was observed since the start of the running observation, if one runs, and the current state of the device. */
internal fun transactionSafety(scope: CallScope): Fields {
  val mode = Once { scope.service<AudioManager>().mode }
  return window(scope) + mapOf(
    "isInteractive" to { scope.service<PowerManager>().isInteractive },
    "isDeviceLocked" to { isDeviceLocked(scope) },
    "isScreenCaptured" to { isScreenCaptured(scope) },
    "isCallActive" to {
      mode.value.let { it == AudioManager.MODE_IN_CALL || it == AudioManager.MODE_IN_COMMUNICATION }
    },
    "audioMode" to { audioModeName(mode.value) },
    "accessibilityRunning" to { isAccessibilityRunning(scope) },
    "enabledAccessibilityServiceCount" to { enabledAccessibilityServices(scope).size }
  )
}

/** Without an observation only `screenshotObservationActive` has a value, which is false. */
private fun window(scope: CallScope): Fields = fieldsOf(
  Once { scope.observation.window },
  "transactionObservationStartedElapsedMs" to { this?.startedElapsedMs },
  "isVisibleInScreenRecording" to { this?.isVisibleInRecording },
  "screenshotObservationActive" to { this?.screenshots != null },
  "screenshotDetectedSinceObservationStart" to { this?.screenshots?.let { it.lastElapsedMs != null } },
  "lastScreenshotDetectedElapsedMs" to { this?.screenshots?.lastElapsedMs },
  "observedTouchCount" to { this?.touches?.count },
  "virtualDeviceTouchCount" to { this?.touches?.virtualDeviceCount },
  "obscuredTouchObserved" to { this?.touches?.let { it.lastObscuredElapsedMs != null } },
  "lastObscuredTouchElapsedMs" to { this?.touches?.lastObscuredElapsedMs },
  "partiallyObscuredTouchObserved" to {
    this?.touches?.takeIf { it.seesPartialCover }?.let { it.lastPartiallyObscuredElapsedMs != null }
  },
  "lastPartiallyObscuredTouchElapsedMs" to { this?.touches?.lastPartiallyObscuredElapsedMs }
)

internal fun audioModeName(mode: Int): String? = when (mode) {
  AudioManager.MODE_NORMAL -> "normal"
  AudioManager.MODE_RINGTONE -> "ringing"
  AudioManager.MODE_IN_CALL -> "in_call"
  AudioManager.MODE_IN_COMMUNICATION -> "in_communication"
  AudioManager.MODE_CALL_SCREENING -> "call_screening"
  AudioManager.MODE_CALL_REDIRECT -> "call_redirect"
  AudioManager.MODE_COMMUNICATION_REDIRECT -> "communication_redirect"
  else -> null
}
