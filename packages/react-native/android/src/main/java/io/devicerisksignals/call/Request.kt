package io.devicerisksignals.call

import com.facebook.react.bridge.ReadableArray
import com.facebook.react.bridge.ReadableMap

/**
 * The content of one request.
 *
 * @property fields catalog names; no other field is read.
 * @property sources the argument of each source by its name: `true`, a list of names, or the inputs of `numbers`.
 */
internal class Request(val fields: Set<String>, val sources: Map<String, Any?>, val timeoutMs: Long) {
  companion object {
    private const val MAX_TIMEOUT_MS = 120_000.0

    /** @throws IllegalArgumentException if [map] does not have the shape of a request. */
    fun from(map: ReadableMap): Request {
      val members = plain(map) as Map<*, *>
      val timeoutMs = members["timeoutMs"] as? Double
      require(timeoutMs != null && timeoutMs > 0)
      return Request(
        fields = namesOf(members["fields"]).toSet(),
        sources = (members["sources"] as? Map<*, *>).orEmpty().mapKeys { (name, _) -> name as String },
        timeoutMs = minOf(timeoutMs, MAX_TIMEOUT_MS).toLong().coerceAtLeast(1)
      )
    }

    /** @throws IllegalArgumentException if [list] is no list of texts. */
    fun namesOf(list: Any?): List<String> {
      require(list is List<*>)
      return list.map { requireNotNull(it as? String) }
    }
  }
}

/** Converts a value of the bridge, with all nested values, into Kotlin's own types. */
internal fun plain(value: Any?): Any? = when (value) {
  is ReadableMap -> value.entryIterator.asSequence().associate { (name, member) -> name to plain(member) }
  is ReadableArray -> value.toArrayList().map(::plain)
  else -> value
}
