package io.devicerisksignals.probes

import android.os.Build
import android.telephony.TelephonyManager
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.platform.Api26
import io.devicerisksignals.platform.Api30

/**
 * On most systems these fields need no permission. If a field needs one that the host app lacks, the field is left out.
 */
internal fun telephony(scope: CallScope): Fields = fieldsOf(
  Once { scope.service<TelephonyManager>() },
  "phoneType" to { phoneTypeName(phoneType) },
  "simState" to { simStateName(simState) },
  "hasIccCard" to { hasIccCard() },
  "simCount" to { simCount(this) },
  "simOperatorName" to { simOperatorName?.ifEmpty { null } },
  "simCountryIso" to { simCountryIso?.ifEmpty { null } },
  "networkOperatorName" to { networkOperatorName?.ifEmpty { null } },
  "networkCountryIso" to { networkCountryIso?.ifEmpty { null } },
  "isNetworkRoaming" to { isNetworkRoaming },
  "dataState" to { dataStateName(dataState) }
)

/** The number of slots with a SIM. It is unknown if the state of one slot is unknown. */
private fun simCount(telephony: TelephonyManager): Int? =
  simStates(telephony)?.takeIf { TelephonyManager.SIM_STATE_UNKNOWN !in it }
    ?.count { it != TelephonyManager.SIM_STATE_ABSENT }

/**
 * The SIM state of each slot. Before API 26 the system reports one state for the device and none for a slot, so the
 * states are known only if the device has exactly one slot.
 */
@Suppress("DEPRECATION")
private fun simStates(telephony: TelephonyManager): List<Int>? = when {
  Build.VERSION.SDK_INT >= Build.VERSION_CODES.R ->
    List(Api30.activeModemCount(telephony)) { slot -> Api26.simState(telephony, slot) }

  Build.VERSION.SDK_INT >= Build.VERSION_CODES.O ->
    List(telephony.phoneCount) { slot -> Api26.simState(telephony, slot) }

  telephony.phoneCount == 1 -> listOf(telephony.simState)

  else -> null
}

internal fun phoneTypeName(type: Int): String? = when (type) {
  TelephonyManager.PHONE_TYPE_NONE -> "none"
  TelephonyManager.PHONE_TYPE_GSM -> "gsm"
  TelephonyManager.PHONE_TYPE_CDMA -> "cdma"
  TelephonyManager.PHONE_TYPE_SIP -> "sip"
  else -> null
}

internal fun simStateName(state: Int): String? = when (state) {
  TelephonyManager.SIM_STATE_ABSENT -> "absent"
  TelephonyManager.SIM_STATE_PIN_REQUIRED -> "pin_required"
  TelephonyManager.SIM_STATE_PUK_REQUIRED -> "puk_required"
  TelephonyManager.SIM_STATE_NETWORK_LOCKED -> "network_locked"
  TelephonyManager.SIM_STATE_READY -> "ready"
  TelephonyManager.SIM_STATE_NOT_READY -> "not_ready"
  TelephonyManager.SIM_STATE_PERM_DISABLED -> "permanently_disabled"
  TelephonyManager.SIM_STATE_CARD_IO_ERROR -> "card_io_error"
  TelephonyManager.SIM_STATE_CARD_RESTRICTED -> "card_restricted"
  else -> null
}

internal fun dataStateName(state: Int): String? = when (state) {
  TelephonyManager.DATA_DISCONNECTED -> "disconnected"
  TelephonyManager.DATA_CONNECTING -> "connecting"
  TelephonyManager.DATA_CONNECTED -> "connected"
  TelephonyManager.DATA_SUSPENDED -> "suspended"
  TelephonyManager.DATA_DISCONNECTING -> "disconnecting"
  TelephonyManager.DATA_HANDOVER_IN_PROGRESS -> "handover_in_progress"
  else -> null
}
