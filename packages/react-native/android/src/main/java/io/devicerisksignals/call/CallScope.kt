package io.devicerisksignals.call

import android.content.Context
import io.devicerisksignals.observation.TransactionObservation
import io.devicerisksignals.platform.SystemFiles

/** Everything that probes and sources read from during one call. */
internal class CallScope(
  val probe: String,
  val context: Context,
  val token: CallToken,
  val files: SystemFiles,
  val observation: TransactionObservation
) {
  /** A service of the system. @throws IllegalStateException if the device has no such service. */
  inline fun <reified S : Any> service(): S = checkNotNull(context.getSystemService(S::class.java))
}
