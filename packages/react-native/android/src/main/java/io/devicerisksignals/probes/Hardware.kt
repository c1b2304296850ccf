package io.devicerisksignals.probes

import android.app.ActivityManager
import android.content.pm.PackageManager
import android.content.res.Configuration
import android.hardware.display.DisplayManager
import android.nfc.NfcManager
import android.opengl.GLES20
import android.os.PowerManager
import android.os.StatFs
import android.os.SystemClock
import android.provider.Settings
import android.util.DisplayMetrics
import android.view.Display
import io.devicerisksignals.call.CallScope

private const val BYTES_PER_KIB = 1024L
private const val KHZ_PER_MHZ = 1000.0
private const val STATUS_BYTES = 64 * 1024
private const val FREQUENCY_BYTES = 64
private const val CORES = 256
private const val BRIGHTEST = 255

internal fun hardware(scope: CallScope): Fields =
  screen(scope) + processor(scope) + memory(scope) + battery(scope) + storage(scope) + mapOf(
    "nfcAvailable" to { scope.context.packageManager.hasSystemFeature(PackageManager.FEATURE_NFC) },
    "nfcEnabled" to { scope.service<NfcManager>().defaultAdapter?.isEnabled },
    "lowPowerModeEnabled" to { scope.service<PowerManager>().isPowerSaveMode },
    "uptimeMs" to { SystemClock.elapsedRealtime() },
    "gpuRendererName" to ::rendererName
  )

/** The driver gives its name only to a thread with a context. The context is closed at once, and nothing is drawn. */
private fun rendererName(): String? = OffscreenContext().use {
  GLES20.glGetString(GLES20.GL_RENDERER)?.ifEmpty { null }
}

private fun screen(scope: CallScope): Fields {
  val resources = scope.context.resources
  val display = Once { scope.service<DisplayManager>().getDisplay(Display.DEFAULT_DISPLAY) }

  // `Display.getRealMetrics` is deprecated for the layout of windows, but it still reports the size of the screen.
  @Suppress("DEPRECATION")
  val screen = Once { DisplayMetrics().also(display.value::getRealMetrics) }
  return mapOf(
    "screenWidthPx" to { screen.value.widthPixels },
    "screenHeightPx" to { screen.value.heightPixels },
    "screenDensity" to { resources.displayMetrics.density },
    "screenDpi" to { resources.displayMetrics.densityDpi },
    "screenPhysicalWidthPx" to { display.value.mode.physicalWidth },
    "screenPhysicalHeightPx" to { display.value.mode.physicalHeight },
    "screenPhysicalDensity" to {
      DisplayMetrics.DENSITY_DEVICE_STABLE.toDouble() / DisplayMetrics.DENSITY_DEFAULT
    },
    "screenBrightness" to {
      // The documented maximum is 255. Some makers use larger values, and their maximum can't be read.
      Settings.System.getInt(scope.context.contentResolver, Settings.System.SCREEN_BRIGHTNESS)
        .takeIf { it in 0..BRIGHTEST }?.let { it.toDouble() / BRIGHTEST }
    },
    "screenOrientation" to { orientationName(resources.configuration.orientation) }
  )
}

internal fun orientationName(orientation: Int): String? = when (orientation) {
  Configuration.ORIENTATION_PORTRAIT -> "portrait"
  Configuration.ORIENTATION_LANDSCAPE -> "landscape"
  else -> null
}

private fun processor(scope: CallScope): Fields = mapOf(
  "processorCount" to { Runtime.getRuntime().availableProcessors() },
  "cpuArchitecture" to { System.getProperty("os.arch") },
  "cpuMaxFrequencyMhz" to { maxFrequencyMhz(scope) }
)

private fun maxFrequencyMhz(scope: CallScope): Double? {
  val cores = scope.files.names("sys/devices/system/cpu").filter { Regex("cpu[0-9]+").matches(it) }.take(CORES)
  return cores.mapNotNull { core ->
    val path = "sys/devices/system/cpu/$core/cpufreq/cpuinfo_max_freq"
    scope.token.attempt { scope.files.text(path, FREQUENCY_BYTES, scope.token).text.trim().toDouble() }
  }.maxOrNull()?.let { it / KHZ_PER_MHZ }
}

private fun memory(scope: CallScope): Fields {
  val memory = Once { ActivityManager.MemoryInfo().also(scope.service<ActivityManager>()::getMemoryInfo) }
  return fieldsOf(
    memory,
    "totalMemoryBytes" to { totalMem },
    "freeMemoryBytes" to { availMem },
    "isLowMemory" to { lowMemory }
  ) + mapOf(
    "isLowRamDevice" to { scope.service<ActivityManager>().isLowRamDevice },
    "runtimeMaxMemoryBytes" to { Runtime.getRuntime().maxMemory() },
    "processResidentMemoryBytes" to { residentBytes(scope) }
  )
}

/** Reads the line `VmRSS: 123456 kB` of the process's status. */
private fun residentBytes(scope: CallScope): Long? {
  val status = scope.files.text("proc/self/status", STATUS_BYTES, scope.token).text
  val kibibytes = Regex("^VmRSS:\\s+([0-9]+) kB$", RegexOption.MULTILINE).find(status)?.groupValues?.get(1)
  return kibibytes?.let { it.toLong() * BYTES_PER_KIB }
}

private fun storage(scope: CallScope): Fields = fieldsOf(
  Once { StatFs(scope.context.applicationInfo.dataDir) },
  "storageTotalBytes" to { totalBytes },
  "storageFreeBytes" to { availableBytes }
)
