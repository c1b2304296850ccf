package io.devicerisksignals.platform

import android.app.ActivityManager
import android.content.Context
import android.content.pm.InstallSourceInfo
import android.content.pm.PackageInfo
import android.content.pm.PackageManager
import android.content.pm.Signature
import android.hardware.biometrics.BiometricManager
import android.location.Location
import android.location.LocationManager
import android.media.AudioAttributes
import android.media.AudioManager
import android.net.LinkProperties
import android.net.NetworkCapabilities
import android.net.wifi.WifiInfo
import android.os.BatteryManager
import android.os.Build
import android.os.SystemClock
import android.telephony.TelephonyManager
import androidx.annotation.RequiresApi

// Calls that are newer than the oldest supported system. The caller checks SDK_INT before it uses one of these objects.
// Each object declares the API level that it needs, so that the build's check of references accepts it.

@RequiresApi(Build.VERSION_CODES.O)
internal object Api26 {
  fun isInstantApp(packages: PackageManager): Boolean = packages.isInstantApp

  fun simState(telephony: TelephonyManager, slot: Int): Int = telephony.getSimState(slot)
}

@RequiresApi(Build.VERSION_CODES.P)
internal object Api28 {
  fun chargeTimeRemainingMs(battery: BatteryManager): Long = battery.computeChargeTimeRemaining()

  fun isLocationEnabled(locations: LocationManager): Boolean = locations.isLocationEnabled

  fun isPrivateDnsActive(link: LinkProperties): Boolean = link.isPrivateDnsActive

  fun privateDnsServerName(link: LinkProperties): String? = link.privateDnsServerName

  fun versionCode(app: PackageInfo): Long = app.longVersionCode

  fun hasMultipleSigners(app: PackageInfo): Boolean? = app.signingInfo?.hasMultipleSigners()

  fun signers(app: PackageInfo): Array<Signature>? = app.signingInfo?.apkContentsSigners

  /**
   * The certificates that have signed the app over time; null if the app has several signers, because such an app has
   * no history.
   */
  fun signerHistory(app: PackageInfo): Array<Signature>? =
    app.signingInfo?.takeUnless { it.hasMultipleSigners() }?.signingCertificateHistory
}

@RequiresApi(Build.VERSION_CODES.Q)
internal object Api29 {
  fun isRunningInUserTestHarness(): Boolean = ActivityManager.isRunningInUserTestHarness()

  fun mtu(link: LinkProperties): Int = link.mtu

  @Suppress("DEPRECATION")
  fun canAuthenticate(context: Context): Int? =
    context.getSystemService(BiometricManager::class.java)?.canAuthenticate()
}

@RequiresApi(Build.VERSION_CODES.R)
internal object Api30 {
  fun canAuthenticate(context: Context): Int? = context.getSystemService(BiometricManager::class.java)
    ?.canAuthenticate(BiometricManager.Authenticators.BIOMETRIC_WEAK)

  fun activeModemCount(telephony: TelephonyManager): Int = telephony.activeModemCount
}

@RequiresApi(Build.VERSION_CODES.S)
internal object Api31 {
  fun socManufacturer(): String = Build.SOC_MANUFACTURER

  fun socModel(): String = Build.SOC_MODEL

  fun isMock(location: Location): Boolean = location.isMock

  /** Null if the network is no Wi-Fi. The system removes names and addresses from the information, not this type. */
  fun wifiSecurityType(network: NetworkCapabilities): Int? = (network.transportInfo as? WifiInfo)?.currentSecurityType
}

@RequiresApi(Build.VERSION_CODES.TIRAMISU)
internal object Api33 {
  /** @throws java.time.DateTimeException if the system has no time from the network. It asks the network for none. */
  fun networkTimeMs(): Long = SystemClock.currentNetworkTimeClock().millis()

  fun packageSource(source: InstallSourceInfo): Int = source.packageSource

  /** Types of the devices on which media would be played now. */
  fun mediaOutputTypes(audio: AudioManager): List<Int> {
    val media = AudioAttributes.Builder().setUsage(AudioAttributes.USAGE_MEDIA).build()
    return audio.getAudioDevicesForAttributes(media).map { it.type }
  }
}

@RequiresApi(Build.VERSION_CODES.UPSIDE_DOWN_CAKE)
internal object Api34 {
  fun updateOwner(source: InstallSourceInfo): String? = source.updateOwnerPackageName
}
