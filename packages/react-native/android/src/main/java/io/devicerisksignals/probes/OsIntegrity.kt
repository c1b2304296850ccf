package io.devicerisksignals.probes

import android.hardware.Sensor
import android.hardware.SensorManager
import android.os.Build
import android.os.Debug
import android.provider.Settings
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.platform.Api29
import io.devicerisksignals.platform.Setting
import io.devicerisksignals.platform.SettingsTable

private const val ENFORCE_BYTES = 16

/** Reads the fields that need a single read each. The other fields are concluded from evidence. */
internal fun osIntegrity(scope: CallScope): Fields = mapOf(
  "isDebuggerAttached" to Debug::isDebuggerConnected,
  "isDebuggerWaiting" to Debug::waitingForDebugger,
  "developerModeEnabled" to { developerModeEnabled(scope) },
  "selinuxEnforcing" to { selinuxEnforcing(scope) },
  "ldPreloadSet" to { System.getenv("LD_PRELOAD") != null },
  "ldPreloadValue" to { System.getenv("LD_PRELOAD") },
  "hiddenApiPolicy" to { hiddenApiPolicy(scope) },
  "isRunningInUserTestHarness" to {
    if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) Api29.isRunningInUserTestHarness() else null
  },
  "abi" to { Build.SUPPORTED_ABIS.firstOrNull() }
) + sensors(scope)

private fun sensors(scope: CallScope): Fields {
  val has = { type: Int -> { scope.service<SensorManager>().getDefaultSensor(type) != null } }
  return mapOf(
    "sensorCount" to { scope.service<SensorManager>().getSensorList(Sensor.TYPE_ALL).size },
    "hasAccelerometer" to has(Sensor.TYPE_ACCELEROMETER),
    "hasGyroscope" to has(Sensor.TYPE_GYROSCOPE),
    "hasMagnetometer" to has(Sensor.TYPE_MAGNETIC_FIELD),
    "hasProximitySensor" to has(Sensor.TYPE_PROXIMITY)
  )
}

/**
 * The settings contain no row for the developer options until a person first enables them. A missing row therefore
 * means that they are off.
 */
private fun developerModeEnabled(scope: CallScope): Boolean {
  val name = Settings.Global.DEVELOPMENT_SETTINGS_ENABLED
  return SettingsTable.GLOBAL.isOn(scope.context.contentResolver, name) ?: false
}

private fun hiddenApiPolicy(scope: CallScope): String? =
  when (val setting = SettingsTable.GLOBAL.read(scope.context.contentResolver, "hidden_api_policy")) {
    is Setting.Value -> setting.text
    Setting.NotSet -> null
  }

private fun selinuxEnforcing(scope: CallScope): Boolean? =
  when (scope.files.text("sys/fs/selinux/enforce", ENFORCE_BYTES, scope.token).text.trim()) {
    "1" -> true
    "0" -> false
    else -> null
  }
