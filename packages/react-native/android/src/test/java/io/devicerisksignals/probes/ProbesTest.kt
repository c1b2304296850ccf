package io.devicerisksignals.probes

import android.content.Context
import android.content.Intent
import android.content.pm.PackageManager
import android.hardware.Sensor
import android.hardware.SensorManager
import android.location.Location
import android.location.LocationManager
import android.media.AudioManager
import android.net.ConnectivityManager
import android.net.NetworkCapabilities
import android.net.ProxyInfo
import android.net.Uri
import android.net.wifi.WifiInfo
import android.os.BatteryManager
import android.os.Build
import android.telephony.TelephonyManager
import com.facebook.react.bridge.ReadableMap
import io.devicerisksignals.RefusingContext
import io.devicerisksignals.application
import io.devicerisksignals.ask
import io.devicerisksignals.moduleOf
import io.devicerisksignals.platform.sha256
import io.devicerisksignals.vocabulary
import io.devicerisksignals.write
import java.net.NetworkInterface
import java.util.Locale
import java.util.TimeZone
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.Shadows.shadowOf
import org.robolectric.annotation.Config
import org.robolectric.shadows.SensorBuilder
import org.robolectric.shadows.ShadowNetworkCapabilities
import org.robolectric.shadows.ShadowProcess
import org.robolectric.shadows.ShadowSystemClock

@RunWith(RobolectricTestRunner::class)
class ProbesTest {
  @get:Rule
  val folder = TemporaryFolder()

  @Test
  fun `a battery without a broadcast is unknown`() {
    val asked = listOf("batteryLevel", "batteryState", "batteryPresent", "powerSource")
    assertEquals(emptyMap<String, Any>(), read("hardware", asked))
  }

  @Test
  fun `a battery has the values of its broadcast and no others`() {
    @Suppress("DEPRECATION")
    application.sendStickyBroadcast(
      Intent(Intent.ACTION_BATTERY_CHANGED)
        .putExtra(BatteryManager.EXTRA_LEVEL, 42)
        .putExtra(BatteryManager.EXTRA_SCALE, 100)
        .putExtra(BatteryManager.EXTRA_STATUS, BatteryManager.BATTERY_STATUS_DISCHARGING)
        .putExtra(BatteryManager.EXTRA_TEMPERATURE, 285)
        .putExtra(BatteryManager.EXTRA_PLUGGED, 0)
        .putExtra(BatteryManager.EXTRA_PRESENT, true)
    )
    val asked = listOf(
      "batteryLevel", "batteryState", "batteryTemperatureC", "powerSource", "batteryPresent", "batteryVoltageMv",
      "batteryHealth", "batteryLow", "batteryTechnology", "batteryCycleCount"
    )
    assertEquals(
      mapOf(
        "batteryLevel" to 0.42,
        "batteryState" to "discharging",
        "batteryTemperatureC" to 28.5,
        "powerSource" to "battery",
        "batteryPresent" to true
      ),
      read("hardware", asked)
    )
  }

  @Test
  fun `the fastest core in the kernel's list and the memory of the process are read`() {
    folder.root.write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "1800000\n".toByteArray())
    folder.root.write("sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "2400000\n".toByteArray())
    folder.root.write("sys/devices/system/cpu/cpu2/topology/core_id", "2\n".toByteArray())
    folder.root.write("sys/devices/system/cpu/cpufreq/policy0/x", "9\n".toByteArray())
    folder.root.write("proc/self/status", "Name:\tapp\nVmRSS:\t  2048 kB\nThreads:\t9\n".toByteArray())
    assertEquals(
      mapOf("cpuMaxFrequencyMhz" to 2400.0, "processResidentMemoryBytes" to 2_097_152.0),
      read("hardware", listOf("cpuMaxFrequencyMhz", "processResidentMemoryBytes"))
    )
  }

  @Test
  fun `a large number of bytes is reported exactly`() {
    val maxMemory = read("hardware", listOf("uptimeMs", "runtimeMaxMemoryBytes"))["runtimeMaxMemoryBytes"]
    assertEquals(Runtime.getRuntime().maxMemory().toDouble(), maxMemory)
  }

  @Test
  fun `without a network that the app may use, the app is not connected and the other fields are absent`() {
    shadowOf(connectivity).setDefaultNetworkActive(false)
    shadowOf(connectivity).setActiveNetworkInfo(null)
    val asked = listOf("isConnected", "isVpnActive", "connectionType", "isMetered", "networkTransportTypes")
    assertEquals(mapOf("isConnected" to false), read("network", asked))
  }

  @Test
  fun `a network that is no tunnel is not a VPN`() {
    val capabilities = ShadowNetworkCapabilities.newInstance()
    shadowOf(capabilities).addTransportType(NetworkCapabilities.TRANSPORT_WIFI)
    shadowOf(connectivity).setNetworkCapabilities(connectivity.activeNetwork, capabilities)
    assertEquals(mapOf("isVpnActive" to false), read("network", listOf("isVpnActive")))
  }

  @Test
  fun `a tunnel is a VPN, and its transport is the kind of link`() {
    val capabilities = ShadowNetworkCapabilities.newInstance()
    shadowOf(capabilities).addTransportType(NetworkCapabilities.TRANSPORT_VPN)
    shadowOf(capabilities).addTransportType(NetworkCapabilities.TRANSPORT_WIFI)
    shadowOf(capabilities).addCapability(NetworkCapabilities.NET_CAPABILITY_INTERNET)
    shadowOf(connectivity).setNetworkCapabilities(connectivity.activeNetwork, capabilities)
    val asked = listOf("isConnected", "isVpnActive", "connectionType", "networkTransportTypes", "hasCaptivePortal")
    assertEquals(
      mapOf(
        "isConnected" to true,
        "isVpnActive" to true,
        "connectionType" to "wifi",
        "networkTransportTypes" to listOf("wifi", "vpn"),
        "hasCaptivePortal" to false
      ),
      read("network", asked)
    )
  }

  @Test
  fun `without the permission a VPN is recognised by its interface name`() {
    val context = RefusingContext(setOf(Context.CONNECTIVITY_SERVICE))
    val up = NetworkInterface.getNetworkInterfaces().toList().filter(NetworkInterface::isUp)
    val expected = hasVpnInterface(up.map(NetworkInterface::getName))
    val answer = read("network", listOf("isVpnActive", "isConnected"), context)
    assertEquals(expected?.let { mapOf("isVpnActive" to it) } ?: emptyMap<String, Any>(), answer)
  }

  @Test
  fun `a tunnel interface belongs to a VPN, but an IPsec interface may belong to calls over Wi-Fi`() {
    assertEquals(true, hasVpnInterface(listOf("lo", "wlan0", "tun0")))
    assertEquals(true, hasVpnInterface(listOf("ipsec1", "ppp0")))
    assertNull(hasVpnInterface(listOf("wlan0", "ipsec1")))
    assertEquals(false, hasVpnInterface(listOf("lo", "wlan0", "rmnet_data0", "tunl0", "dummy0")))
  }

  @Test
  fun `without the permission biometry is unavailable if no hardware is declared, and otherwise unknown`() {
    val context = RefusingContext(setOf("biometric", "fingerprint"))
    assertEquals(mapOf("biometryAvailable" to false), read(POSTURE, listOf("biometryAvailable"), context))
    shadowOf(application.packageManager).setSystemFeature(PackageManager.FEATURE_FINGERPRINT, true)
    assertEquals(
      mapOf("biometryType" to "fingerprint"),
      read(POSTURE, listOf("biometryAvailable", "biometryType"), context)
    )
  }

  @Test
  @Config(sdk = [35])
  fun `only Wi-Fi of a known type has a security type`() {
    val asked = listOf("wifiSecurityType")
    val types = listOf(WifiInfo.SECURITY_TYPE_SAE, WifiInfo.SECURITY_TYPE_UNKNOWN)
    val read = (types.map { WifiInfo.Builder().setCurrentSecurityType(it).build() } + null).map { info ->
      val capabilities = ShadowNetworkCapabilities.newInstance()
      shadowOf(capabilities).setTransportInfo(info)
      shadowOf(connectivity).setNetworkCapabilities(connectivity.activeNetwork, capabilities)
      read("network", asked)
    }
    assertEquals(listOf(mapOf("wifiSecurityType" to "sae"), emptyMap(), emptyMap()), read)
    assertEquals(
      emptyMap<String, Any>(),
      read("network", asked, RefusingContext(setOf(Context.CONNECTIVITY_SERVICE)))
    )
  }

  @Test
  fun `added certificate authorities are counted, none is 0, and an unreadable store is unknown`() {
    val asked = listOf("userCertificateAuthorityCount")
    assertEquals(emptyMap<String, Any>(), read(POSTURE, asked))
    folder.root.write("data/misc/user/0/gatekeeper", ByteArray(0))
    assertEquals(mapOf("userCertificateAuthorityCount" to 0.0), read(POSTURE, asked))
    for (name in listOf("7651b327.0", "7651b327.1", "a3c.0", ".tmp", "7651b327", "notes.txt")) {
      folder.root.write("data/misc/user/0/cacerts-added/$name", ByteArray(0))
    }
    folder.root.write("data/misc/user/10/cacerts-added/7651b327.0", ByteArray(0))
    assertEquals(mapOf("userCertificateAuthorityCount" to 2.0), read(POSTURE, asked))
    ShadowProcess.setUid(1_010_123)
    assertEquals(mapOf("userCertificateAuthorityCount" to 1.0), read(POSTURE, asked))
    folder.root.resolve("data/misc/user/10/cacerts-added").deleteRecursively()
    folder.root.write("data/misc/user/10/cacerts-added", "not a folder".toByteArray())
    assertEquals(emptyMap<String, Any>(), read(POSTURE, asked))
  }

  @Test
  @Config(sdk = [35])
  fun `a clock that is ahead of the network's has an offset above 0, and without the network's it is unknown`() {
    val asked = listOf("networkTimeOffsetMs")
    // The simulated time of the network is the time since boot, so the clock of the test is decades ahead.
    ShadowSystemClock.setNetworkTimeAvailable(true)
    assertTrue(read(POSTURE, asked)["networkTimeOffsetMs"] as Double > DECADE_MS)
    ShadowSystemClock.setNetworkTimeAvailable(false)
    assertEquals(emptyMap<String, Any>(), read(POSTURE, asked))
  }

  @Test
  fun `only the host and the port of a proxy script are reported`() {
    val asked = listOf("isProxyConfigured", "proxyHost", "proxyPort")
    assertEquals(mapOf("isProxyConfigured" to false), read("network", asked))
    val script = Uri.parse("https://user:secret@proxy.example:8443/path?token=1")
    shadowOf(connectivity).setProxyForNetwork(connectivity.boundNetworkForProcess, ProxyInfo.buildPacProxy(script))
    assertEquals(
      mapOf("isProxyConfigured" to true, "proxyHost" to "proxy.example", "proxyPort" to 8443.0),
      read("network", asked)
    )
  }

  @Test
  fun `a position needs the permission, but the granted level is reported without it`() {
    val locations = application.getSystemService(LocationManager::class.java)
    val known = Location(LocationManager.GPS_PROVIDER).apply {
      latitude = 48.5
      longitude = -2.25
      elapsedRealtimeNanos = 1
    }
    shadowOf(locations).simulateLocation(LocationManager.GPS_PROVIDER, known)
    val asked =
      listOf("authorizationStatus", "hasCoarsePermission", "latitude", "longitude", "altitudeMeters", "provider")
    assertEquals(
      mapOf("authorizationStatus" to "denied", "hasCoarsePermission" to false),
      read("geolocation", asked)
    )
    shadowOf(application).grantPermissions(android.Manifest.permission.ACCESS_FINE_LOCATION)
    assertEquals(
      mapOf(
        "authorizationStatus" to "fine",
        "hasCoarsePermission" to true,
        "latitude" to 48.5,
        "longitude" to -2.25,
        "provider" to "gps"
      ),
      read("geolocation", asked)
    )
  }

  @Test
  fun `a request for only a position reports the missing permission`() {
    val asked = listOf("latitude", "isFromMockProvider", "isSimulatedBySoftware")
    val answer = moduleOf().ask("geolocation", asked).value as ReadableMap
    assertEquals(mapOf("unavailable" to "permission"), answer.toHashMap())
    assertEquals(setOf("gnssSupported"), read("geolocation", asked + "gnssSupported").keys)
    shadowOf(application).grantPermissions(android.Manifest.permission.ACCESS_COARSE_LOCATION)
    assertEquals(emptyMap<String, Any>(), read("geolocation", asked))
  }

  @Test
  fun `operators without a name are absent, not empty`() {
    val telephony = application.getSystemService(TelephonyManager::class.java)
    shadowOf(telephony).setSimOperatorName("Example")
    shadowOf(telephony).setNetworkOperatorName("")
    shadowOf(telephony).setSimState(TelephonyManager.SIM_STATE_READY)
    assertEquals(
      mapOf("simOperatorName" to "Example", "simState" to "ready"),
      read("telephony", listOf("simOperatorName", "networkOperatorName", "simState"))
    )
  }

  @Test
  fun `present and missing sensors are reported`() {
    val sensors = application.getSystemService(SensorManager::class.java)
    shadowOf(sensors).addSensor(SensorBuilder.newBuilder().setType(Sensor.TYPE_ACCELEROMETER).build())
    assertEquals(
      mapOf("hasAccelerometer" to true, "hasGyroscope" to false, "sensorCount" to 1.0),
      read("os_integrity", listOf("hasAccelerometer", "hasGyroscope", "sensorCount"))
    )
  }

  @Test
  fun `the enforcement of SELinux is read or unknown, and never assumed`() {
    val asked = listOf("selinuxEnforcing")
    assertEquals(emptyMap<String, Any>(), read("os_integrity", asked))
    folder.root.write("sys/fs/selinux/enforce", "0".toByteArray())
    assertEquals(mapOf("selinuxEnforcing" to false), read("os_integrity", asked))
    folder.root.write("sys/fs/selinux/enforce", "1".toByteArray())
    assertEquals(mapOf("selinuxEnforcing" to true), read("os_integrity", asked))
  }

  @Test
  fun `a call is recognised by the audio mode`() {
    val audio = application.getSystemService(Context.AUDIO_SERVICE) as AudioManager
    val asked = listOf("audioMode", "isCallActive")
    assertEquals(mapOf("audioMode" to "normal", "isCallActive" to false), read("transaction_safety", asked))
    audio.mode = AudioManager.MODE_IN_COMMUNICATION
    assertEquals(mapOf("audioMode" to "in_communication", "isCallActive" to true), read("transaction_safety", asked))
  }

  @Test
  fun `audio properties that the system does not report are absent`() {
    val asked = listOf("measured", "framesPerBuffer", "nativeSampleRate", "outputLatencyMs")
    assertEquals(mapOf("measured" to false), read("audio_latency", asked))
  }

  @Test
  fun `the latency of the output is the duration of one buffer`() {
    assertEquals(4.0, bufferMs(192, 48_000))
    assertNull(bufferMs(192, null))
    assertNull(bufferMs(null, 48_000))
  }

  @Test
  fun `the locale and the clock are read`() {
    val (locale, zone) = Locale.getDefault() to TimeZone.getDefault()
    try {
      Locale.setDefault(Locale.forLanguageTag("de-CH"))
      TimeZone.setDefault(TimeZone.getTimeZone("Asia/Kolkata"))
      assertEquals(
        mapOf(
          "language" to "de",
          "country" to "CH",
          "currencyCode" to "CHF",
          "timezoneId" to "Asia/Kolkata",
          "timezoneOffsetMinutes" to 330.0,
          "firstDayOfWeek" to 2.0,
          "decimalSeparator" to "."
        ),
        read(
          "locale",
          listOf(
            "language",
            "country",
            "currencyCode",
            "timezoneId",
            "timezoneOffsetMinutes",
            "firstDayOfWeek",
            "decimalSeparator"
          )
        )
      )
    } finally {
      Locale.setDefault(locale)
      TimeZone.setDefault(zone)
    }
  }

  @Test
  fun `the digest of the fonts is over their names, in order`() {
    folder.root.write("system/fonts/b.ttf", ByteArray(0))
    folder.root.write("system/fonts/a.ttf", ByteArray(0))
    val asked = listOf("fontsDigest")
    assertEquals(mapOf("fontsDigest" to sha256("a.ttf\nb.ttf".toByteArray())), read("fonts", asked))
    folder.root.write("product/fonts/aa.ttf", ByteArray(0))
    assertEquals(mapOf("fontsDigest" to sha256("a.ttf\naa.ttf\nb.ttf".toByteArray())), read("fonts", asked))
  }

  @Test
  fun `the app itself is described`() {
    val read = read("application", listOf("bundleId", "isSplitApks", "splitNames", "grantedPermissions", "isSystemApp"))
    assertEquals(application.packageName, read["bundleId"])
    assertEquals(false, read["isSplitApks"])
    assertEquals(emptyList<String>(), read["splitNames"])
    assertEquals(false, read["isSystemApp"])
  }

  @Test
  fun `the user and the data folder of a work profile are those of the app`() {
    val asked = listOf("androidUserId", "isDataFolderOwn")
    assertEquals(mapOf("androidUserId" to 0.0, "isDataFolderOwn" to false), read("application", asked))
    ShadowProcess.setUid(1_010_123)
    application.applicationInfo.dataDir = "/data/user/10/${application.packageName}"
    assertEquals(mapOf("androidUserId" to 10.0, "isDataFolderOwn" to true), read("application", asked))
  }

  @Test
  fun `a data folder of another app or of another user is not the app's own`() {
    val own = listOf(
      "/data/data/a.bank" to 0,
      "/data/user/0/a.bank" to 0,
      "/data/user/999/a.bank" to 999,
      "/data/user_de/10/a.bank" to 10,
      "/mnt/expand/3cbd0af5-2b1f-4e4c-9f5c-2c8f8d6a2f11/user/0/a.bank" to 0
    )
    for ((folder, user) in own) assertTrue(folder, isOwnDataFolder(folder, user, "a.bank"))
    val foreign = listOf(
      "/data/user/0/io.host/virtual/data/user/0/a.bank" to 0,
      "/data/data/io.host/gameplugins/a.bank" to 0,
      "/data/user/10/a.bank" to 0,
      "/data/data/a.bank" to 10,
      "/data/user/0/a_bank" to 0,
      "/data/user/0/a.bank/files" to 0,
      "/mnt/expand/x/y/user/0/a.bank" to 0,
      "" to 0
    )
    for ((folder, user) in foreign) assertFalse(folder, isOwnDataFolder(folder, user, "a.bank"))
  }

  @Test
  fun `fields of newer systems are absent on older ones`() {
    val newer = mapOf(
      "application" to listOf("installPackageSource", "updateOwnerPackageName", "installingPackageName"),
      "network" to listOf("isPrivateDnsActive", "activeNetworkMtu", "wifiSecurityType"),
      "os_integrity" to listOf("isRunningInUserTestHarness"),
      "device_security_posture" to listOf("strongBoxAvailable", "faceHardwarePresent", "networkTimeOffsetMs"),
      "media_bluetooth_apps" to listOf("isScreenCaptured", "audioOutputRoute")
    )
    if (Build.VERSION.SDK_INT > Build.VERSION_CODES.N) {
      assertEquals(setOf("isRunningInUserTestHarness"), read("os_integrity", newer.getValue("os_integrity")).keys)
      return
    }
    for ((probe, fields) in newer) assertEquals(probe, emptyMap<String, Any>(), read(probe, fields))
  }

  @Test
  fun `intervals of the native clock are measured`() {
    val read = read("runtime_timing", listOf("nativeClockSource", "nativeSampleCount", "nativeIntervalMedianNs"))
    assertEquals("system_nano_time", read["nativeClockSource"])
    assertEquals(4_096.0, read["nativeSampleCount"])
    assertTrue(read["nativeIntervalMedianNs"] as Double >= 0)
  }

  @Test
  fun `a device that can't draw reports the reason and no durations`() {
    val read = read("gpu_benchmark", listOf("benchmarkPerformed", "skippedReason", "durationMs", "operationTimeP50Ms"))
    if (read["benchmarkPerformed"] == true) {
      assertNull(read["skippedReason"])
      return
    }
    assertTrue(read["skippedReason"] in vocabulary("gpu_benchmark", "skippedReason"))
    assertFalse("durationMs" in read)
  }

  private val connectivity: ConnectivityManager
    get() = application.getSystemService(Context.CONNECTIVITY_SERVICE) as ConnectivityManager

  private fun read(probe: String, fields: List<String>, context: Context = application) =
    moduleOf(folder.root, context).ask(probe, fields).fields

  private companion object {
    const val DECADE_MS = 3.1e11
    const val POSTURE = "device_security_posture"
  }
}
