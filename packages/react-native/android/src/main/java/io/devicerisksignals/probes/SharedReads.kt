package io.devicerisksignals.probes

import android.app.KeyguardManager
import android.os.Build
import android.os.Process
import android.provider.Settings
import android.view.WindowManager
import android.view.accessibility.AccessibilityManager
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.observation.RecordingObserver
import io.devicerisksignals.platform.Setting
import io.devicerisksignals.platform.SettingsTable

// Reads that more than one probe uses.

internal fun isAccessibilityRunning(scope: CallScope): Boolean = scope.service<AccessibilityManager>().isEnabled

/**
 * Components of the enabled accessibility services, as the setting lists them. If the setting was never set, the list
 * is empty.
 */
internal fun enabledAccessibilityServices(scope: CallScope): List<String> {
  val name = Settings.Secure.ENABLED_ACCESSIBILITY_SERVICES
  return when (val setting = SettingsTable.SECURE.read(scope.context.contentResolver, name)) {
    is Setting.Value -> setting.text.split(':').filter(String::isNotEmpty)
    Setting.NotSet -> emptyList()
  }
}

/** Whether a recording shows this app now; null before API 35. The host app must declare DETECT_SCREEN_RECORDING. */
internal fun isScreenCaptured(scope: CallScope): Boolean? {
  if (Build.VERSION.SDK_INT < Build.VERSION_CODES.VANILLA_ICE_CREAM) return null
  val observer = RecordingObserver(scope.service<WindowManager>())
  observer.start()
  observer.stop()
  return observer.isVisible
}

internal fun isDeviceLocked(scope: CallScope): Boolean = scope.service<KeyguardManager>().isDeviceLocked

/** Each Android user has a range of this many uid values (`UserHandle.PER_USER_RANGE` of AOSP). */
internal fun androidUserId(): Int = Process.myUid() / UIDS_PER_USER

private const val UIDS_PER_USER = 100_000
