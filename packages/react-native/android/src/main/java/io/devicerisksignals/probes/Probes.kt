package io.devicerisksignals.probes

import io.devicerisksignals.call.CallScope

/**
 * The read of each field of a probe, by the field's catalog name. If a read returns null or throws, its field is left
 * out. Making the map reads no value.
 */
internal typealias Fields = Map<String, () -> Any?>

/** Every probe that exists on Android, by its id. Probes without fields answer only with evidence. */
internal val PROBES: Map<String, (CallScope) -> Fields> = mapOf(
  "device_identity" to ::deviceIdentity,
  "hardware" to ::hardware,
  "fonts" to ::fonts,
  "os_integrity" to ::osIntegrity,
  "os_integrity_frida_scan" to ::osIntegrityFridaScan,
  "network" to ::network,
  "telephony" to ::telephony,
  "locale" to ::locale,
  "geolocation" to ::geolocation,
  "media_bluetooth_apps" to ::mediaBluetoothApps,
  "gpu_benchmark" to ::gpuBenchmark,
  "audio_latency" to ::audioLatency,
  "application" to ::application,
  "device_security_posture" to ::deviceSecurityPosture,
  "transaction_safety" to ::transactionSafety,
  "runtime" to { emptyMap() },
  "runtime_timing" to ::runtimeTiming,
  "numeric_consistency" to { emptyMap() }
)

/** A read that several fields share. It runs when the first of them is requested, and is not repeated if it fails. */
internal class Once<T>(read: () -> T) {
  private val result by lazy(LazyThreadSafetyMode.NONE) { runCatching(read) }

  val value: T
    get() = result.getOrThrow()
}

/** Fields whose values are members of the result of one shared read. */
internal fun <T> fieldsOf(whole: Once<T>, vararg fields: Pair<String, T.() -> Any?>): Fields =
  fields.associate { (name, read) -> name to { whole.value.read() } }
