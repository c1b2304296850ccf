package io.devicerisksignals.call

import io.devicerisksignals.probes.PROBES
import io.devicerisksignals.sources.SOURCES

/**
 * Answers one request: reads exactly the fields, and gathers exactly the sources, that the request names. If no field
 * and no source has a value, the first reason that a read gave is the answer.
 */
internal fun collect(scope: CallScope, request: Request): Map<String, Any?> = try {
  val reads = PROBES[scope.probe]?.invoke(scope) ?: throw Unavailable(Lack.UNSUPPORTED)
  val lacks = mutableListOf<Unavailable>()
  val attempt = { read: () -> Any? ->
    try {
      scope.token.attempt(read)
    } catch (unavailable: Unavailable) {
      lacks += unavailable
      null
    }
  }
  val fields = request.fields.associateWith { name -> reads[name]?.let(attempt) }
  val evidence = request.sources.mapValues { (name, argument) ->
    SOURCES[name]?.let { gather -> attempt { gather(scope, argument) } }
  }
  if (lacks.isNotEmpty() && (fields.values + evidence.values).all { it == null }) throw lacks.first()
  mapOf("fields" to fields, "evidence" to evidence)
} catch (unavailable: Unavailable) {
  mapOf("unavailable" to unavailable.lack.wireName)
}
