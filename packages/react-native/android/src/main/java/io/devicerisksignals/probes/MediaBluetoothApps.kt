package io.devicerisksignals.probes

import android.bluetooth.BluetoothManager
import android.hardware.display.DisplayManager
import android.media.AudioDeviceInfo
import android.media.AudioManager
import android.os.Build
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.platform.Api33

internal fun mediaBluetoothApps(scope: CallScope): Fields = mapOf(
  "audioOutputRoute" to { audioOutputRoute(scope) },
  "isMusicActive" to { scope.service<AudioManager>().isMusicActive },
  "bluetoothBondedDeviceCount" to { bondedDeviceCount(scope) },
  "isScreenCaptured" to { isScreenCaptured(scope) },
  "displayCount" to { scope.service<DisplayManager>().displays.size },
  "presentationDisplayCount" to {
    scope.service<DisplayManager>().getDisplays(DisplayManager.DISPLAY_CATEGORY_PRESENTATION).size
  },
  "accessibilityRunning" to { isAccessibilityRunning(scope) },
  "enabledAccessibilityServices" to { enabledAccessibilityServices(scope) }
)

/** Older systems list the connected outputs, but don't report which of them is in use. */
private fun audioOutputRoute(scope: CallScope): String? {
  if (Build.VERSION.SDK_INT < Build.VERSION_CODES.TIRAMISU) return null
  return Api33.mediaOutputTypes(scope.service()).firstNotNullOfOrNull(::routeName)
}

internal fun routeName(type: Int): String? = when (type) {
  AudioDeviceInfo.TYPE_BUILTIN_SPEAKER -> "speaker"

  AudioDeviceInfo.TYPE_BUILTIN_EARPIECE -> "earpiece"

  AudioDeviceInfo.TYPE_WIRED_HEADSET, AudioDeviceInfo.TYPE_WIRED_HEADPHONES -> "headphones"

  AudioDeviceInfo.TYPE_BLUETOOTH_A2DP, AudioDeviceInfo.TYPE_BLUETOOTH_SCO,
  AudioDeviceInfo.TYPE_BLE_HEADSET, AudioDeviceInfo.TYPE_BLE_SPEAKER, AudioDeviceInfo.TYPE_BLE_BROADCAST ->
    "bluetooth"

  AudioDeviceInfo.TYPE_HEARING_AID -> "hearing_aid"

  AudioDeviceInfo.TYPE_USB_DEVICE, AudioDeviceInfo.TYPE_USB_HEADSET, AudioDeviceInfo.TYPE_USB_ACCESSORY -> "usb"

  AudioDeviceInfo.TYPE_HDMI, AudioDeviceInfo.TYPE_HDMI_ARC, AudioDeviceInfo.TYPE_HDMI_EARC -> "hdmi"

  AudioDeviceInfo.TYPE_REMOTE_SUBMIX -> "remote"

  else -> "other"
}

/** While Bluetooth is off the system lists no device, which does not mean that no device is paired. */
private fun bondedDeviceCount(scope: CallScope): Int? =
  scope.service<BluetoothManager>().adapter?.takeIf { it.isEnabled }?.bondedDevices?.size
