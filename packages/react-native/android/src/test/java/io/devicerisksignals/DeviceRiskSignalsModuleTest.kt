package io.devicerisksignals

import android.content.Context
import com.facebook.react.bridge.JavaOnlyMap
import com.facebook.react.bridge.ReadableMap
import java.io.File
import java.io.RandomAccessFile
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotNull
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner

@RunWith(RobolectricTestRunner::class)
class DeviceRiskSignalsModuleTest {
  @get:Rule
  val folder = TemporaryFolder()

  @Test
  fun `the module reads the requested fields and no others`() {
    val promise = moduleOf().ask("hardware", fields = listOf("processorCount", "noSuchField"))
    assertEquals(setOf("processorCount"), promise.fields.keys)
    assertEquals(emptySet<String>(), promise.evidence.keys)
  }

  @Test
  fun `the module uses no service that no requested field needs`() {
    val device = RefusingContext(emptySet())
    moduleOf(context = device).ask("hardware", fields = listOf("uptimeMs", "runtimeMaxMemoryBytes")).fields
    assertEquals(emptyList<String>(), device.asked)
  }

  @Test
  fun `a read that fails leaves out its own field and no other`() {
    val device = RefusingContext(setOf(Context.CONNECTIVITY_SERVICE))
    val asked = listOf("isConnected", "isMetered", "isProxyConfigured", "dnsServerAddresses", "interfaceNames")
    assertEquals(setOf("interfaceNames"), moduleOf(context = device).ask("network", fields = asked).fields.keys)
  }

  @Test
  fun `a source that does not exist is left out`() {
    val promise = moduleOf().ask("os_integrity", sources = mapOf("maps" to true, "stack" to true, "noSource" to true))
    assertEquals(setOf("stack"), promise.evidence.keys)
  }

  @Test
  fun `a source with an argument of the wrong shape is left out`() {
    val promise = moduleOf().ask("os_integrity", sources = mapOf("paths" to true, "stack" to true))
    assertEquals(setOf("stack"), promise.evidence.keys)
  }

  @Test
  fun `a probe of another platform is unsupported`() {
    val answer = moduleOf().ask("os_integrity_fork_test", fields = listOf("testPerformed")).value as ReadableMap
    assertEquals(mapOf("unavailable" to "unsupported"), answer.toHashMap())
  }

  @Test
  fun `a request of the wrong shape fails without a message`() {
    for (request in listOf(JavaOnlyMap(), JavaOnlyMap.of("timeoutMs", 100.0, "fields", true))) {
      val promise = RecordingPromise().also { moduleOf().collect("1", "hardware", request, it) }
      assertEquals("failed", promise.code)
      assertNull(promise.message)
    }
  }

  @Test
  fun `a call ends at its deadline, even if its thread is blocked`() {
    val module = moduleOf(folderWithPipe())
    val promise = RecordingPromise()
    val request = requestOf(sources = mapOf("maps" to true), timeoutMs = 100.0)
    module.collect("held", "os_integrity", request, promise)
    assertEquals("cancelled", promise.code)
    assertNull(promise.message)
  }

  @Test
  fun `a cancelled call is rejected at once, and only once`() {
    val root = folderWithPipe()
    val module = moduleOf(root)
    val promise = module.ask("os_integrity", sources = mapOf("maps" to true), call = "held")
    module.cancel("another")
    module.cancel("held")
    assertEquals("cancelled", promise.code)
    release(root)
    assertEquals(1, promise.settlements.get())
  }

  @Test
  fun `a blocked call does not delay another call`() {
    val module = moduleOf(folderWithPipe())
    module.ask("os_integrity", sources = mapOf("maps" to true), call = "held")
    assertEquals(setOf("abi"), module.ask("os_integrity", fields = listOf("abi"), call = "2").fields.keys)
    module.cancel("held")
  }

  @Test
  fun `calls that run at the same time do not mix their answers`() {
    val module = moduleOf()
    val asked = listOf("model" to "device_identity", "uptimeMs" to "hardware", "timezoneId" to "locale")
    val promises = List(60) { index ->
      val (field, probe) = asked[index % asked.size]
      field to module.ask(probe, fields = listOf(field), call = "call $index")
    }
    for ((field, promise) in promises) assertEquals(setOf(field), promise.fields.keys)
  }

  @Test
  fun `a call with the name of a running call is rejected`() {
    val module = moduleOf(folderWithPipe())
    module.ask("os_integrity", sources = mapOf("maps" to true), call = "held")
    assertEquals("failed", module.ask("hardware", fields = listOf("uptimeMs"), call = "held").code)
    module.cancel("held")
    assertEquals(setOf("uptimeMs"), module.ask("hardware", fields = listOf("uptimeMs"), call = "held").fields.keys)
  }

  @Test
  fun `after its end the module accepts no calls and rejects running ones`() {
    val module = moduleOf(folderWithPipe())
    val held = module.ask("os_integrity", sources = mapOf("maps" to true), call = "held")
    module.invalidate()
    assertEquals("cancelled", held.code)
    assertEquals("failed", module.ask("hardware", fields = listOf("uptimeMs"), call = "2").code)
  }

  @Test
  fun `no thread runs before the first call`() {
    val before = ownThreads()
    val module = moduleOf()
    module.cancel("none")
    module.invalidate()
    assertEquals(emptySet<Thread>(), ownThreads() - before)
  }

  @Test
  fun `echo returns the value`() {
    val promise = RecordingPromise().also { moduleOf().echo(-0.0, it) }
    assertEquals(-0.0, promise.value)
  }

  @Test
  fun `the package offers the module and makes it at the first use`() {
    val offered = DeviceRiskSignalsPackage()
    val info = offered.getReactModuleInfoProvider().getReactModuleInfos().getValue("DeviceRiskSignals")
    assertTrue(info.isTurboModule)
    assertFalse(info.needsEagerInit)
    assertEquals(DeviceRiskSignalsModule::class.java.name, info.className)
    assertNotNull(offered.getModule("DeviceRiskSignals", reactContextOf()))
    assertNull(offered.getModule("Another", reactContextOf()))
  }

  private fun ownThreads() = Thread.getAllStackTraces().keys.filter { it.name == "DeviceRiskSignals" }.toSet()

  /** A folder in which opening `maps` blocks until a writer opens it. */
  private fun folderWithPipe(): File {
    val pipe = File(folder.root, "proc/self/maps").also { it.parentFile?.mkdirs() }
    check(ProcessBuilder("mkfifo", pipe.path).start().waitFor() == 0)
    return folder.root
  }

  private fun release(root: File) = RandomAccessFile(File(root, "proc/self/maps"), "rw").close()
}
