package io.devicerisksignals.call

import io.devicerisksignals.probes.PROBES
import io.devicerisksignals.sources.SOURCES

/** Answers one request: reads the fields and gathers the sources that it names, and nothing else. */
internal fun collect(scope: CallScope, request: Request): Map<String, Any?> = try {
  val fields = PROBES[scope.probe]?.invoke(scope) ?: throw Unavailable(Lack.UNSUPPORTED)
  mapOf(
    "fields" to request.fields.associateWith { name -> fields[name]?.let { read -> scope.token.attempt(read) } },
    "evidence" to request.sources.mapValues { (name, argument) ->
      SOURCES[name]?.let { gather -> scope.token.attempt { gather(scope, argument) } }
    }
  )
} catch (unavailable: Unavailable) {
  mapOf("unavailable" to unavailable.lack.wireName)
}
