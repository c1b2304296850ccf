package io.devicerisksignals.platform

import android.system.ErrnoException
import android.system.Os
import android.system.OsConstants
import io.devicerisksignals.call.CallToken
import java.io.ByteArrayOutputStream
import java.io.File
import java.io.FileInputStream
import java.io.IOException

/** The text of a file; [truncated] if the file is longer than the reader's limit. */
internal class Text(val text: String, val truncated: Boolean) {
  /** The text in the form of the interface. */
  fun members(): Map<String, Any> = mapOf("text" to text, "truncated" to truncated)
}

/**
 * Reads files of the system, such as those of `/proc`.
 *
 * @param root `/`, except in tests.
 * @param access calls `access` of the system with a path and a mode. It returns true, false if the path does not exist,
 * or null if the system denies the access or fails.
 */
internal class SystemFiles(
  private val root: File = File("/"),
  private val access: (path: String, mode: Int) -> Boolean? = ::systemAccess
) {
  /**
   * Reads at most [limit] bytes as a text. Bytes that are not UTF-8 become U+FFFD.
   *
   * @throws java.io.IOException if the file does not exist or may not be read.
   */
  fun text(path: String, limit: Int, token: CallToken): Text {
    val bytes = bytes(path, limit + 1, token)
    return Text(String(bytes, 0, minOf(bytes.size, limit), Charsets.UTF_8), truncated = bytes.size > limit)
  }

  /** Reads at most [limit] bytes. @throws java.io.IOException if the file does not exist or may not be read. */
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

  /** Names in a folder, in no particular order. @throws java.io.IOException if the folder can't be listed. */
  fun names(folder: String): List<String> = File(root, folder).list()?.toList() ?: throw IOException()

  /** The target of a symbolic link. @throws ErrnoException */
  fun target(path: String): String = Os.readlink(File(root, path).path)

  /**
   * Whether the path exists, by `access`; null if this is unknown, for example in a folder that may not be searched.
   */
  fun exists(path: String): Boolean? = access(File(root, path).path, OsConstants.F_OK)

  /** True if the file may be read, false if it does not exist, null if the system denies the access or fails. */
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
