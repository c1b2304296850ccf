package io.devicerisksignals

import android.Manifest
import android.provider.Settings
import io.devicerisksignals.probes.PROBES
import java.io.File
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.Shadows.shadowOf
import org.robolectric.annotation.Config

/** Compares the answers of every probe with the published schema. */
@RunWith(RobolectricTestRunner::class)
class AnswersTest {
  @Test
  @Config(sdk = [35])
  fun `every Android field of the catalog is answered here or concluded in TypeScript, and no other field is`() {
    shadowOf(application).grantPermissions(Manifest.permission.INTERNET)
    for ((probe, fields) in PUBLISHED) {
      if (probe == "os_integrity_fork_test") continue
      val onAndroid = fields.filterValues { "android" in it.optJSONArray("x-platforms").texts() }.keys
      val answered = PROBES.getValue(probe)(scopeOf(probe)).keys
      assertEquals(probe, onAndroid, answered + NOT_READ_NATIVELY[probe].orEmpty())
      assertEquals(probe, emptySet<String>(), answered intersect NOT_READ_NATIVELY[probe].orEmpty())
    }
  }

  @Test
  fun `every answer has the type and the values that the schema allows`() {
    shadowOf(application).grantPermissions(Manifest.permission.INTERNET)
    for ((probe, fields) in PUBLISHED) {
      val names = PROBES[probe]?.invoke(scopeOf(probe))?.keys.orEmpty()
      if (names.isEmpty()) continue
      val answers = moduleOf(File("/")).ask(probe, fields = names.toList()).fields
      for ((name, value) in answers) {
        val type = fields.getValue(name).getString("type")
        assertTrue("$probe.$name: $type, not $value", hasType(value, type))
        assertTrue("$probe.$name: $value", isPublished(value, fields.getValue(name)))
      }
    }
  }

  @Test
  fun `every required field of the schema is answered`() {
    val required = listOf("isDebuggerAttached", "developerModeEnabled")
    Settings.Global.putInt(application.contentResolver, Settings.Global.DEVELOPMENT_SETTINGS_ENABLED, 0)
    val answers = moduleOf().ask("os_integrity", fields = required).fields
    assertEquals(mapOf("isDebuggerAttached" to false, "developerModeEnabled" to false), answers)

    val identity = listOf("manufacturer", "model", "brand", "systemName", "systemVersion", "isTablet")
    assertEquals(identity.toSet(), moduleOf().ask("device_identity", fields = identity).fields.keys)
    assertEquals(setOf("measured"), moduleOf().ask("audio_latency", fields = listOf("measured")).fields.keys)
    assertEquals(
      setOf("benchmarkPerformed"),
      moduleOf().ask("gpu_benchmark", fields = listOf("benchmarkPerformed")).fields.keys
    )
  }

  private fun hasType(value: Any?, type: String): Boolean = when (type) {
    "array" -> value is List<*> && value.all { it is String || it is Double }
    "boolean" -> value is Boolean
    "number" -> value is Double && value.isFinite()
    "object" -> value is Map<*, *>
    "string" -> value is String
    else -> false
  }

  private companion object {
    /** Fields that TypeScript concludes from evidence or observes itself, and fields that have no value on Android. */
    val NOT_READ_NATIVELY = mapOf(
      "os_integrity" to setOf(
        "isEmulator", "tracedByOtherProcess", "tracerPid",
        "suBinaryFound", "suOnPath", "rootManagementAppFound", "dangerousAppFound", "rootCloakingAppFound",
        "suspiciousFilePathsFound", "suspiciousFilePaths", "suspiciousPathCount", "writableSystemPathFound",
        "suspiciousMountsFound", "magiskMountsFound", "magiskAbstractSocketFound", "magicMountModulesFound",
        "zygiskIndicatorsFound", "bootloaderLocked", "verifiedBootState", "testKeysBuild",
        "dangerousPropsPresent", "dangerousSystemProperties", "hookFrameworkFound", "hookStackFrameFound",
        "hookStackFrames", "loadedHookClassNames", "injectedLibrariesFound", "injectedLibraryNames",
        "injectedLibraryCount", "suspiciousExecutableMappingsFound", "executableMemoryMappings",
        "fridaThreadNamesFound",
        "fridaInjectorPipeFound", "fridaListenerPortFound", "suspiciousEnvironmentVariablesFound",
        "suspiciousEnvironmentVariableNames", "emulatorFingerprintMatch", "emulatorBuildMarkers",
        "emulatorFilesFound", "emulatorFilePaths", "emulatorSystemPropertyMarkers", "emulatorCpuMarkers",
        "emulatorVendorMarkers", "emulatorChecksPerformed", "deviceFarmMarkers"
      ),
      "media_bluetooth_apps" to setOf("installedFlaggedApps"),
      "transaction_safety" to setOf("remoteAccessAppsFound", "remoteAccessAppCount"),
      "runtime" to setOf(
        "jsEngine", "isHermes", "hermesVersion", "reactNativeVersion", "platformOs", "isFabric", "isTurboModule",
        "isBridgeless", "isDebugBuild"
      ),
      "runtime_timing" to setOf(
        "jsClockSource",
        "jsTimerSampleCount",
        "jsTimerResolutionMs",
        "eventLoopSampleCount",
        "eventLoopP50Ms",
        "eventLoopP95Ms",
        "eventLoopMadMs",
        "bridgeRoundTripMs"
      ),
      "numeric_consistency" to setOf(
        "integerVectorMatches",
        "integerMismatchCount",
        "floatSampleCount",
        "floatMismatchCount",
        "floatMaxAbsoluteDifference",
        "signedZeroPreserved",
        "subnormalPreserved"
      )
    )
  }
}
