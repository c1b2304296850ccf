package io.devicerisksignals.sources

import android.content.pm.PackageInfo
import android.os.Build
import android.os.Bundle
import io.devicerisksignals.application
import io.devicerisksignals.scopeOf
import io.devicerisksignals.write
import org.junit.Assert.assertEquals
import org.junit.Assert.assertThrows
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.Shadows.shadowOf

@RunWith(RobolectricTestRunner::class)
class PresenceTest {
  @get:Rule
  val folder = TemporaryFolder()

  @Test
  fun `paths are present or absent`() {
    folder.root.write("system/bin/su", ByteArray(0))
    assertEquals(
      presence(present = listOf("/system/bin/su"), absent = listOf("/system/xbin/su", "/system/bin/su/below")),
      gather("paths", listOf("/system/bin/su", "/system/xbin/su", "/system/bin/su/below"))
    )
  }

  @Test
  fun `a path that can't be examined is in neither list`() {
    assertEquals(presence(absent = listOf("/seen")), gather("paths", listOf("/denied/su", "/seen")))
  }

  @Test
  fun `an installed package is present`() {
    install("com.example.seen")
    assertEquals(listOf("com.example.seen"), gather("packages", listOf("com.example.seen"))["present"])
  }

  @Test
  fun `a package that is not seen is absent only if the system can't hide it`() {
    val asked = listOf("com.example.missing")
    val whereVisible = presence(absent = asked)
    assertEquals(if (Build.VERSION.SDK_INT < 30) whereVisible else presence(), gather("packages", asked))

    declare("network, os_integrity")
    assertEquals(whereVisible, gather("packages", asked))

    declare("media_bluetooth_apps")
    assertEquals(if (Build.VERSION.SDK_INT < 30) whereVisible else presence(), gather("packages", asked))
  }

  @Test
  fun `classes are looked up and not initialised`() {
    val asked = listOf("io.devicerisksignals.sources.PresenceTest\$Failing", "de.robv.android.xposed.XposedBridge")
    assertEquals(presence(present = asked.take(1), absent = asked.drop(1)), gather("classes", asked))
  }

  @Test
  fun `environment variables that are set are present`() {
    assertEquals(
      presence(present = listOf("PATH"), absent = listOf("NO_SUCH_VARIABLE")),
      gather("environment", listOf("PATH", "NO_SUCH_VARIABLE"))
    )
  }

  @Test
  fun `executables are looked for in every folder of the search path`() {
    val folders = System.getenv("PATH").split(':').filter(String::isNotEmpty).distinct()
    folder.root.write("${folders.first()}/su", ByteArray(0))
    val found = gather("executables", listOf("su"))
    assertEquals(listOf("${folders.first()}/su"), found["present"])
    assertEquals(emptyList<String>(), found["absent"])
    assertEquals(presence(absent = listOf("magisk")), gather("executables", listOf("magisk")))
    assertEquals(presence(), gather("executables", listOf("denied")))
  }

  @Test
  fun `an argument that is no list is rejected`() {
    assertThrows(IllegalArgumentException::class.java) { gather("paths", true) }
    assertThrows(IllegalArgumentException::class.java) { gather("classes", listOf(1.0)) }
  }

  private object Failing {
    init {
      error("initialised")
    }
  }

  private fun install(name: String) {
    shadowOf(application.packageManager).installPackage(PackageInfo().apply { packageName = name })
  }

  private fun declare(probes: String) {
    val info = shadowOf(application.packageManager).getInternalMutablePackageInfo(application.packageName)
    info.applicationInfo?.metaData = Bundle().apply { putString(DECLARED_QUERIES, probes) }
  }

  private fun presence(present: List<String> = emptyList(), absent: List<String> = emptyList()) =
    mapOf("present" to present, "absent" to absent)

  private fun gather(source: String, argument: Any): Map<*, *> =
    SOURCES.getValue(source)(scopeOf("os_integrity", folder.root), argument) as Map<*, *>
}
