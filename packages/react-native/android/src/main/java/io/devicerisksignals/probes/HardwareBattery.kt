package io.devicerisksignals.probes

import android.content.Intent
import android.content.IntentFilter
import android.os.BatteryManager
import android.os.Build
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.platform.Api28

private const val TENTHS = 10.0

/** The state of the battery in the system's last sticky broadcast. Reading it registers no receiver. */
internal fun battery(scope: CallScope): Fields {
  val notice = Once {
    checkNotNull(scope.context.registerReceiver(null, IntentFilter(Intent.ACTION_BATTERY_CHANGED)))
  }
  return fieldsOf(
    notice,
    "batteryLevel" to { level() },
    "batteryState" to { number(BatteryManager.EXTRA_STATUS)?.let(::stateName) },
    "batteryHealth" to { number(BatteryManager.EXTRA_HEALTH)?.let(::healthName) },
    "batteryTemperatureC" to { number(BatteryManager.EXTRA_TEMPERATURE)?.let { it / TENTHS } },
    "batteryVoltageMv" to { number(BatteryManager.EXTRA_VOLTAGE) },
    "batteryTechnology" to { getStringExtra(BatteryManager.EXTRA_TECHNOLOGY)?.ifEmpty { null } },
    "batteryPresent" to { flag(BatteryManager.EXTRA_PRESENT) },
    "batteryLow" to { if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.P) flag(EXTRA_BATTERY_LOW) else null },
    "batteryCycleCount" to { number(EXTRA_CYCLE_COUNT)?.takeIf { it >= 0 } },
    "powerSource" to { number(BatteryManager.EXTRA_PLUGGED)?.let(::powerSourceName) }
  ) + mapOf(
    "chargeTimeRemainingMs" to {
      if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.P) {
        Api28.chargeTimeRemainingMs(scope.service()).takeIf { it >= 0 }
      } else {
        null
      }
    }
  )
}

private const val EXTRA_BATTERY_LOW = BatteryManager.EXTRA_BATTERY_LOW
private const val EXTRA_CYCLE_COUNT = BatteryManager.EXTRA_CYCLE_COUNT

private fun Intent.number(extra: String): Int? = if (hasExtra(extra)) getIntExtra(extra, 0) else null

private fun Intent.flag(extra: String): Boolean? = if (hasExtra(extra)) getBooleanExtra(extra, false) else null

private fun Intent.level(): Double? {
  val level = number(BatteryManager.EXTRA_LEVEL)?.takeIf { it >= 0 }
  val scale = number(BatteryManager.EXTRA_SCALE)?.takeIf { it > 0 }
  return if (level == null || scale == null) null else level.toDouble() / scale
}

internal fun stateName(state: Int): String? = when (state) {
  BatteryManager.BATTERY_STATUS_CHARGING -> "charging"
  BatteryManager.BATTERY_STATUS_DISCHARGING -> "discharging"
  BatteryManager.BATTERY_STATUS_NOT_CHARGING -> "not_charging"
  BatteryManager.BATTERY_STATUS_FULL -> "full"
  else -> null
}

internal fun healthName(health: Int): String? = when (health) {
  BatteryManager.BATTERY_HEALTH_GOOD -> "good"
  BatteryManager.BATTERY_HEALTH_OVERHEAT -> "overheat"
  BatteryManager.BATTERY_HEALTH_DEAD -> "dead"
  BatteryManager.BATTERY_HEALTH_OVER_VOLTAGE -> "over_voltage"
  BatteryManager.BATTERY_HEALTH_UNSPECIFIED_FAILURE -> "unspecified_failure"
  BatteryManager.BATTERY_HEALTH_COLD -> "cold"
  else -> null
}

internal fun powerSourceName(plugged: Int): String? = when (plugged) {
  0 -> "battery"
  BatteryManager.BATTERY_PLUGGED_AC -> "ac"
  BatteryManager.BATTERY_PLUGGED_USB -> "usb"
  BatteryManager.BATTERY_PLUGGED_WIRELESS -> "wireless"
  BatteryManager.BATTERY_PLUGGED_DOCK -> "dock"
  else -> null
}
