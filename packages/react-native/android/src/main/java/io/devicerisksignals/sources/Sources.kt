package io.devicerisksignals.sources

import io.devicerisksignals.call.CallScope

/** Gathers one source of evidence. Throws or returns null if the source can't be read. */
internal typealias Source = (scope: CallScope, argument: Any?) -> Any?

/** Every source that exists on Android, by its name in the interface. */
internal val SOURCES: Map<String, Source> = mapOf(
  "maps" to textOf("proc/self/maps", MAPS_BYTES),
  "mountInfo" to textOf("proc/self/mountinfo", TABLE_BYTES),
  "status" to textOf("proc/self/status", STATUS_BYTES),
  "cpuInfo" to textOf("proc/cpuinfo", CPU_INFO_BYTES),
  "unixSockets" to textOf("proc/net/unix", TABLE_BYTES),
  "tcpSockets" to { scope, _ -> tcpSockets(scope) },
  "threads" to { scope, _ -> threads(scope) },
  "descriptors" to { scope, _ -> descriptors(scope) },
  "stack" to { _, _ -> stack() },
  "build" to { _, _ -> buildConstants() },
  "properties" to ::properties,
  "packages" to ::packages,
  "executables" to ::executables,
  "paths" to ::paths,
  "classes" to ::classes,
  "environment" to ::environment,
  "numbers" to ::numbers
)
