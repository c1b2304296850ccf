package io.devicerisksignals.sources

import io.devicerisksignals.call.CallStopped
import io.devicerisksignals.call.CallToken
import io.devicerisksignals.scopeOf
import io.devicerisksignals.write
import java.io.File
import java.io.IOException
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner

@RunWith(RobolectricTestRunner::class)
class ProcessFilesTest {
  @get:Rule
  val folder = TemporaryFolder()

  @Test
  fun `a huge file is cut at the limit`() {
    val line = "7f00000000-7f00001000 r-xp 00000000 fe:00 1234 /system/lib64/libc.so\n".toByteArray()
    folder.root.write("proc/self/maps", ByteArray(MAPS_BYTES + 100) { line[it % line.size] })
    val (text, truncated) = textIn(gather("maps"))
    assertEquals(MAPS_BYTES, text.length)
    assertTrue(truncated)
  }

  @Test
  fun `a file whose length is exactly the limit is complete`() {
    folder.root.write("proc/self/status", ByteArray(STATUS_BYTES) { 'x'.code.toByte() })
    val (text, truncated) = textIn(gather("status"))
    assertEquals(STATUS_BYTES, text.length)
    assertFalse(truncated)
  }

  @Test
  fun `a last line without a line end is kept`() {
    folder.root.write("proc/self/mountinfo", "1 2 3\n4 5".toByteArray())
    assertEquals("1 2 3\n4 5" to false, textIn(gather("mountInfo")))
  }

  @Test
  fun `bytes that are not UTF-8 become replacement characters`() {
    folder.root.write("proc/cpuinfo", byteArrayOf('a'.code.toByte(), 0xC3.toByte(), 0xFF.toByte(), 'b'.code.toByte()))
    assertEquals("a\uFFFD\uFFFDb" to false, textIn(gather("cpuInfo")))
  }

  @Test
  fun `an empty file gives an empty text, and a missing file gives no text`() {
    folder.root.write("proc/net/unix", ByteArray(0))
    assertEquals("" to false, textIn(gather("unixSockets")))
    assertThrows(IOException::class.java) { gather("maps") }
  }

  @Test
  fun `sockets of both families are read, and IPv6 may be missing`() {
    folder.root.write("proc/net/tcp", "four\n".toByteArray())
    assertEquals("four\n" to false, textIn(gather("tcpSockets")))
    folder.root.write("proc/net/tcp6", "six\n".toByteArray())
    assertEquals("four\nsix\n" to false, textIn(gather("tcpSockets")))
    folder.root.write("proc/net/tcp6", ByteArray(TABLE_BYTES) { 'x'.code.toByte() })
    assertTrue(textIn(gather("tcpSockets")).second)
  }

  @Test
  fun `sockets of one family are unknown when the other can't be read`() {
    folder.root.write("proc/net/tcp", "four\n".toByteArray())
    assertTrue(File(folder.root, "proc/net/tcp6").mkdir())
    assertThrows(IOException::class.java) { gather("tcpSockets") }
  }

  @Test
  fun `names of threads are read, without a thread that has ended in the meantime`() {
    folder.root.write("proc/self/task/1/comm", "main\n".toByteArray())
    folder.root.write("proc/self/task/2/comm", "with space\n".toByteArray())
    assertTrue(File(folder.root, "proc/self/task/3").mkdir())
    assertEquals(setOf("main", "with space"), (gather("threads") as List<*>).toSet())
  }

  @Test
  fun `threads are unknown if one can't be read, and the list has a maximum length`() {
    assertTrue(File(folder.root, "proc/self/task/1/comm").mkdirs())
    assertThrows(IOException::class.java) { gather("threads") }
    folder.root.deleteRecursively()
    repeat(1_100) { folder.root.write("proc/self/task/$it/comm", "name\n".toByteArray()) }
    assertEquals(1_024, (gather("threads") as List<*>).size)
  }

  @Test
  fun `threads that have ended in the meantime don't make a cut list look complete`() {
    repeat(1_200) { folder.root.write("proc/self/task/$it/comm", "name\n".toByteArray()) }
    repeat(100) { assertTrue(File(folder.root, "proc/self/task/${it * 12}/comm").delete()) }
    assertEquals(1_024, (gather("threads") as List<*>).size)
  }

  @Test
  fun `a stopped call reads no more`() {
    folder.root.write("proc/self/maps", ByteArray(100))
    val token = CallToken(10_000).apply { stop() }
    assertThrows(CallStopped::class.java) {
      SOURCES.getValue("maps")(scopeOf("os_integrity", folder.root, token = token), true)
    }
  }

  private fun gather(source: String) = SOURCES.getValue(source)(scopeOf("os_integrity", folder.root), true)

  private fun textIn(members: Any?): Pair<String, Boolean> {
    val text = members as Map<*, *>
    return text["text"] as String to text["truncated"] as Boolean
  }
}
