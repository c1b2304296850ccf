package io.devicerisksignals.sources

import java.io.ByteArrayOutputStream
import java.nio.ByteBuffer
import java.nio.ByteOrder
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test

class PropertyIndexTest {
  private val index = PropertyIndex(
    IndexWriter(listOf("default", "vendor", "boot", "bootloader")).write(
      WrittenNode(
        "root",
        context = 0,
        prefixes = listOf("persist" to 1),
        children = listOf(
          WrittenNode(
            "ro",
            children = listOf(
              WrittenNode(
                "boot",
                context = 2,
                prefixes = listOf("flash.lock" to 1, "flash" to 2),
                names = listOf("verifiedbootstate" to 3)
              )
            )
          )
        )
      )
    )
  )

  @Test
  fun `an exact name takes precedence`() {
    assertEquals("bootloader", index.contextOf("ro.boot.verifiedbootstate"))
    assertEquals("boot", index.contextOf("ro.boot.verifiedbootstate.more"))
  }

  @Test
  fun `the deepest node decides, by its longest prefix before its own context`() {
    assertEquals("default", index.contextOf("debug.something"))
    assertEquals("default", index.contextOf("ro.kernel.qemu"))
    assertEquals("boot", index.contextOf("ro.boot.serial"))
    assertEquals("vendor", index.contextOf("ro.boot.flash.locked"))
    assertEquals("boot", index.contextOf("ro.boot.flash.other"))
    assertEquals("vendor", index.contextOf("persist.sys.thing"))
  }

  @Test
  fun `a name without a context is not found`() {
    val none = PropertyIndex(IndexWriter(listOf("one")).write(WrittenNode("root")))
    assertNull(none.contextOf("ro.anything"))
  }

  @Test
  fun `an index of another version is rejected`() {
    assertThrows(RuntimeException::class.java) { PropertyIndex(ByteArray(3)) }
    assertThrows(RuntimeException::class.java) { PropertyIndex(ByteArray(24)) }
    val cut = IndexWriter(listOf("one")).write(WrittenNode("root", context = 0)).copyOf(40)
    assertThrows(RuntimeException::class.java) { PropertyIndex(cut).contextOf("ro.anything") }
  }

  @Test
  fun `a property is known not to be set only if its file can be read`() {
    val access = PropertyAccess(index) { context -> if (context == "bootloader") null else context != "vendor" }
    assertTrue(access.isReadable("ro.kernel.qemu"))
    assertFalse(access.isReadable("persist.sys.thing"))
    assertFalse(access.isReadable("ro.boot.verifiedbootstate"))
  }
}

private class WrittenNode(
  val name: String,
  val context: Int = -1,
  val prefixes: List<Pair<String, Int>> = emptyList(),
  val names: List<Pair<String, Int>> = emptyList(),
  val children: List<WrittenNode> = emptyList()
)

/** Writes an index in the system's form. It writes the parts of a node before the node. */
private class IndexWriter(private val contexts: List<String>) {
  private val bytes = ByteArrayOutputStream().apply { write(ByteArray(HEADER)) }

  fun write(root: WrittenNode): ByteArray {
    val names = contexts.map(::text)
    val contextsOffset = words(listOf(names.size) + names)
    val rootOffset = node(root)
    val whole = bytes.toByteArray()
    ByteBuffer.wrap(whole).order(ByteOrder.LITTLE_ENDIAN).apply {
      listOf(1, 1, whole.size, contextsOffset, contextsOffset, rootOffset).forEach(::putInt)
    }
    return whole
  }

  private fun node(node: WrittenNode): Int {
    val entry = entry(node.name to node.context)
    val lists = listOf(node.children.map(::node), node.prefixes.map(::entry), node.names.map(::entry))
    return words(listOf(entry) + lists.flatMap { list -> listOf(list.size, words(list)) })
  }

  private fun entry(entry: Pair<String, Int>): Int {
    val (name, context) = entry
    return words(listOf(text(name), name.length, context, -1))
  }

  private fun text(text: String): Int = place("$text\u0000".toByteArray())

  private fun words(words: List<Int>): Int {
    val buffer = ByteBuffer.allocate(words.size * Int.SIZE_BYTES).order(ByteOrder.LITTLE_ENDIAN)
    words.forEach(buffer::putInt)
    return place(buffer.array())
  }

  private fun place(part: ByteArray): Int {
    while (bytes.size() % Int.SIZE_BYTES != 0) bytes.write(0)
    return bytes.size().also { bytes.write(part) }
  }

  private companion object {
    const val HEADER = 24
  }
}
