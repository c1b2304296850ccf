package io.devicerisksignals.sources

import java.nio.ByteBuffer
import java.nio.ByteOrder

/**
 * The index of properties in the form that the system's `init` writes for the C library (`property_info`, version 1).
 *
 * The file consists of little-endian 32-bit words. Offsets count from the start of the file:
 *
 * - header: version, oldest version of a reader that can read the file, size, offsets of the contexts, the types and
 *   the root node;
 * - contexts: their number, then the offset of the name of each, which ends with a zero byte;
 * - node: offset of its own entry, then number and offset of its children, of its prefixes and of its exact names.
 *   These lists contain offsets of nodes or entries. The longest prefix is first;
 * - entry: offset and length of a name, number of its context, number of its type. A number with all bits set means
 *   that there is no context or type.
 *
 * @throws RuntimeException if a read exceeds the file, or if this reader does not know the version.
 */
internal class PropertyIndex(bytes: ByteArray) {
  private val words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)

  init {
    require(word(OLDEST_READER) == VERSION)
  }

  /**
   * The name of the context that a property belongs to; null if the index has no context for it.
   *
   * The parts of the property's name lead from the root node down. In the deepest node an exact name takes precedence,
   * then the longest matching prefix, then the node's own context. If it has none of them, the node above it decides.
   */
  fun contextOf(property: String): String? = find(Node(word(ROOT)), property, null)?.let(::nameOf)

  private tailrec fun find(node: Node, rest: String, above: Int?): Int? {
    val context = node.contextOfPrefix(rest) ?: node.entry.context ?: above
    val child = if ('.' in rest) node.child(rest.substringBefore('.')) else null
    return if (child == null) node.contextOfName(rest) ?: context else find(child, rest.substringAfter('.'), context)
  }

  private fun nameOf(context: Int): String {
    val contexts = word(CONTEXTS)
    require(context in 0 until word(contexts))
    return text(word(contexts + WORD + context * WORD))
  }

  private fun text(offset: Int): String {
    val end = generateSequence(offset) { it + 1 }.first { words.get(it) == 0.toByte() }
    return String(words.array(), offset, end - offset, Charsets.UTF_8)
  }

  private fun word(offset: Int): Int = words.getInt(offset)

  private inner class Node(private val offset: Int) {
    val entry: Entry
      get() = Entry(word(offset))

    fun child(part: String): Node? = list(CHILDREN).map(::Node).firstOrNull { it.entry.name == part }

    fun contextOfPrefix(rest: String): Int? =
      list(PREFIXES).map(::Entry).firstOrNull { rest.startsWith(it.name) }?.context

    fun contextOfName(rest: String): Int? = list(NAMES).map(::Entry).firstOrNull { it.name == rest }?.context

    private fun list(member: Int): Sequence<Int> {
      val start = word(offset + member + WORD)
      return (0 until word(offset + member)).asSequence().map { word(start + it * WORD) }
    }
  }

  private inner class Entry(private val offset: Int) {
    val name: String
      get() = text(word(offset))

    val context: Int?
      get() = word(offset + CONTEXT).takeIf { it != NONE }
  }

  private companion object {
    const val VERSION = 1
    const val NONE = -1
    const val WORD = 4

    const val OLDEST_READER = 1 * WORD
    const val CONTEXTS = 3 * WORD
    const val ROOT = 5 * WORD

    const val CHILDREN = 1 * WORD
    const val PREFIXES = 3 * WORD
    const val NAMES = 5 * WORD

    const val CONTEXT = 2 * WORD
  }
}
