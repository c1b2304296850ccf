package io.devicerisksignals.compiled

import java.io.DataInputStream
import java.io.InputStream

/** All texts in the constant pool of a compiled class: names, descriptors and literals (JVMS §4.4). */
internal fun textsOf(classFile: InputStream): Set<String> = DataInputStream(classFile).use { input ->
  check(input.readInt() == MAGIC)
  input.skipBytes(VERSION_BYTES)
  val texts = HashSet<String>()
  val count = input.readUnsignedShort()
  var index = 1
  while (index < count) {
    val tag = input.readUnsignedByte()
    if (tag == UTF8) texts += input.readUTF() else input.skipBytes(sizeOf(tag))
    // A constant of type Long or Double takes two entries.
    index += if (tag == LONG || tag == DOUBLE) 2 else 1
  }
  texts
}

private fun sizeOf(tag: Int): Int = when (tag) {
  7, 8, 16, 19, 20 -> 2
  15 -> 3
  3, 4, 9, 10, 11, 12, 17, 18 -> 4
  LONG, DOUBLE -> 8
  else -> error("no constant has the tag $tag")
}

private const val MAGIC = -0x35014542
private const val VERSION_BYTES = 4
private const val UTF8 = 1
private const val LONG = 5
private const val DOUBLE = 6
