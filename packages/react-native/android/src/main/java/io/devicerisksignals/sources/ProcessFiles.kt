package io.devicerisksignals.sources

import android.system.ErrnoException
import android.system.OsConstants
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.platform.Text
import java.io.IOException

internal const val MAPS_BYTES = 4 * 1024 * 1024
internal const val TABLE_BYTES = 1024 * 1024
internal const val CPU_INFO_BYTES = 256 * 1024
internal const val STATUS_BYTES = 64 * 1024

private const val THREADS = 1_024
private const val DESCRIPTORS = 2_048
private const val NAME_BYTES = 256

/** A source that is the text of a file. */
internal fun textOf(path: String, limit: Int): Source = { scope, _ ->
  scope.files.text(path, limit, scope.token).members()
}

/**
 * `/proc/net/tcp` followed by `tcp6`, which a kernel without IPv6 lacks. If one of the files may not be read, both are
 * unknown.
 */
internal fun tcpSockets(scope: CallScope): Map<String, Any> {
  val first = scope.files.text("proc/net/tcp", TABLE_BYTES, scope.token)
  if (scope.files.exists("proc/net/tcp6") == false) return first.members()
  val second = scope.files.text("proc/net/tcp6", TABLE_BYTES, scope.token)
  val text = first.text + second.text
  return Text(text.take(TABLE_BYTES), first.truncated || second.truncated || text.length > TABLE_BYTES).members()
}

/** Names of this process's threads. A thread that ends during the read is ignored. */
internal fun threads(scope: CallScope): List<String> = scope.files.names("proc/self/task").firstOf(THREADS) { thread ->
  val path = "proc/self/task/$thread/comm"
  try {
    scope.files.text(path, NAME_BYTES, scope.token).text.removeSuffix("\n")
  } catch (failure: IOException) {
    if (scope.files.exists(path) == false) null else throw failure
  }
}

/** Targets of this process's descriptors. A descriptor that is closed during the read is ignored. */
internal fun descriptors(scope: CallScope): List<String> =
  scope.files.names("proc/self/fd").firstOf(DESCRIPTORS) { descriptor ->
    scope.token.check()
    try {
      scope.files.target("proc/self/fd/$descriptor")
    } catch (failure: ErrnoException) {
      if (failure.errno == OsConstants.ENOENT) null else throw failure
    }
  }

/**
 * The results of the first [limit] entries that exist. If missing entries counted too, a list that was cut would look
 * complete.
 */
private fun <T : Any> List<String>.firstOf(limit: Int, read: (String) -> T?): List<T> =
  asSequence().mapNotNull(read).take(limit).toList()
