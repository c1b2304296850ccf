package io.devicerisksignals.compiled

import io.devicerisksignals.DeviceRiskSignalsModule
import java.io.File
import java.net.URL
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

/**
 * Checks what the compiled library refers to, because the promises of the SDK can be verified in its classes and not in
 * its sources.
 */
class ReferencesTest {
  @Test
  fun `no class refers to an API that the SDK promises not to use`() {
    val classes = File(DeviceRiskSignalsModule::class.java.protectionDomain.codeSource.location.toURI())
    val compiled = classes.walk().filter { it.extension == "class" }.toList()
    assertTrue(compiled.size > 50)
    val broken = compiled.flatMap { file ->
      val name = file.relativeTo(classes).path.removeSuffix(".class")
      broken(textsOf(file.inputStream()), name).map { "$name: $it" }
    }
    assertEquals(emptyList<String>(), broken)
  }

  @Test
  fun `only the scan of the loopback interface opens a socket`() {
    assertTrue(broken(setOf("java/net/Socket"), SOURCES).isNotEmpty())
    assertTrue(broken(setOf("java/net/Socket"), "${SCAN}${'$'}Companion").isEmpty())
    assertTrue(broken(setOf("java/net/URL"), SCAN).isNotEmpty())
    assertTrue(broken(setOf("java/net/ProxySelector"), SCAN).isNotEmpty())
  }

  @Test
  fun `only the observer of touches asks for the device of an event`() {
    assertTrue(broken(setOf("getDeviceId"), SOURCES).isNotEmpty())
    assertTrue(broken(setOf("getDeviceId"), TOUCHES).isEmpty())
    assertTrue(broken(setOf("getImei"), TOUCHES).isNotEmpty())
  }

  @Test
  fun `a class that breaks the promises is detected`() {
    val name = BrokenPromises::class.java.name.substringAfterLast('.') + ".class"
    val found = broken(textsOf(checkNotNull(BrokenPromises::class.java.getResourceAsStream(name))), name)
    for (promise in listOf("network", "identifier", "storage", "permission")) {
      assertTrue("$promise in $found", found.any { it.startsWith(promise) })
    }
  }

  private class BrokenPromises {
    fun call(activity: android.app.Activity) {
      URL("https://example.com").openConnection()
      android.provider.Settings.Secure.getString(activity.contentResolver, "android_id")
      activity.getSharedPreferences("name", 0)
      activity.requestPermissions(arrayOf("permission"), 1)
    }
  }

  private fun broken(texts: Set<String>, name: String): List<String> {
    val permitted = PERMITTED[name.substringBefore('$')]
    return PROMISES.flatMap { (promise, pattern) ->
      texts.filter { pattern.containsMatchIn(it) && permitted?.containsMatchIn(it) != true }.map { "$promise: $it" }
    }
  }

  private companion object {
    const val SCAN = "io/devicerisksignals/probes/LoopbackScan"
    const val TOUCHES = "io/devicerisksignals/observation/TouchObserver"
    const val SOURCES = "io/devicerisksignals/sources/SourcesKt"

    /** What single classes may refer to, because their work needs it: a scan of one port, and the device of a touch. */
    val PERMITTED = mapOf(
      SCAN to
        Regex("java/net/(Socket|InetSocketAddress|ConnectException|SocketTimeoutException|SocketAddress|Proxy)\\b"),
      TOUCHES to Regex("^getDeviceId$")
    )

    val PROMISES = mapOf(
      "network" to Regex(
        "java/net/(?!NetworkInterface\\b|InetAddress\\b)|javax/net|java/nio/channels|android/net/http|android/webkit|" +
          "org/apache/http|okhttp|LocalSocket|DownloadManager|react/modules/network"
      ),
      "identifier" to Regex(
        "android_id|ANDROID_ID|AdvertisingId|android/gms|MediaDrm|getImei|getMeid|getDeviceId|getSubscriberId|" +
          "getSimSerialNumber|getLine1Number|getIccId|^getSerial$|^SERIAL$|getHardwareAddress|getMacAddress|" +
          "java/util/UUID|AccountManager|AppSetId|InstallationId"
      ),
      "storage" to Regex(
        "SharedPreferences|android/database/sqlite|FileOutputStream|FileWriter|RandomAccessFile|openFileOutput|" +
          "java/nio/file|ContentValues|Settings\\\$\\w+\\.put|^(mkdirs?|createNewFile|createTempFile)$|" +
          "KeyStore"
      ),
      "permission" to Regex(
        "requestPermissions|PermissionAwareActivity|ActivityResultContract|startActivity|startActivityForResult"
      ),
      "enumeration" to Regex(
        "QUERY_ALL_PACKAGES|getInstalledPackages|getInstalledApplications|getPackagesHolding|queryIntentActivities"
      ),
      "updates" to Regex("requestLocationUpdates|requestSingleUpdate|getCurrentLocation|AudioRecord|MediaRecorder"),
      "parsing" to Regex("graphics/fonts/SystemFonts"),
      "process" to Regex("java/lang/ProcessBuilder|^exec$|^loadLibrary$|^System\\.load$")
    )
  }
}
