package io.devicerisksignals.platform

import android.system.ErrnoException
import android.system.Os
import android.system.OsConstants
import io.devicerisksignals.call.CallToken
import java.io.ByteArrayOutputStream
import java.io.File
import java.io.FileInputStream
import java.io.IOException

/** A file's text; [truncated] where it exceeds the reader's bound. */
internal class Text(val text: String, val truncated: Boolean) {
  /** The text as a member of the interface. */
  fun members(): Map<String, Any> = mapOf("text" to text, "truncated" to truncated)
}

/**
 * Files that the system keeps, such as those of `/proc`.
 *
 * @param root `/`, except in tests.
 * @param access asks the system for a path and a mode of `access`; null where the answer can't be known.
 */
internal class SystemFiles(
  private val root: File = File("/"),
  private val access: (path: String, mode: Int) -> Boolean? = ::systemAccess
) {
  /**
   * Reads at most [limit] bytes as a text. Bytes that are not UTF-8 become U+FFFD.
   *
   * @throws java.io.IOException when the file is not there or may not be read.
   */
  fun text(path: String, limit: Int, token: CallToken): Text {
    val bytes = bytes(path, limit + 1, token)
    return Text(String(bytes, 0, minOf(bytes.size, limit), Charsets.UTF_8), truncated = bytes.size > limit)
  }

  /** Reads at most [limit] bytes. @throws java.io.IOException as [text] does. */
  fun bytes(path: String, limit: Int, token: CallToken): ByteArray =
    token.closing(FileInputStream(File(root, path))) { input ->
      val bytes = ByteArrayOutputStream()
      val buffer = ByteArray(BUFFER)
      while (bytes.size() < limit) {
        token.check()
        val count = input.read(buffer, 0, minOf(buffer.size, limit - bytes.size()))
        if (count < 0) break
        bytes.write(buffer, 0, count)
      }
      bytes.toByteArray()
    }

  /** Names in a folder, in no order. @throws java.io.IOException when it may not be listed. */
  fun names(folder: String): List<String> = File(root, folder).list()?.toList() ?: throw IOException()

  /** Where a symbolic link points. @throws ErrnoException */
  fun target(path: String): String = Os.readlink(File(root, path).path)

  /** Whether the path exists, by `access`; null when that is unknown, such as in a folder that may not be searched. */
  fun exists(path: String): Boolean? = access(File(root, path).path, OsConstants.F_OK)

  /** Whether the file may be read; null where that can't be known. */
  fun isReadable(path: String): Boolean? = access(File(root, path).path, OsConstants.R_OK)

  private companion object {
    const val BUFFER = 16 * 1024
  }
}

private fun systemAccess(path: String, mode: Int): Boolean? = try {
  Os.access(path, mode)
} catch (failure: ErrnoException) {
  when (failure.errno) {
    OsConstants.ENOENT, OsConstants.ENOTDIR -> false
    else -> null
  }
}
