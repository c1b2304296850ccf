package io.devicerisksignals

import android.app.Application
import android.content.Context
import android.content.ContextWrapper
import android.system.OsConstants
import com.facebook.react.bridge.JavaOnlyArray
import com.facebook.react.bridge.JavaOnlyMap
import com.facebook.react.bridge.ReactApplicationContext
import com.facebook.react.bridge.WritableMap
import io.devicerisksignals.call.BridgeValues
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.call.CallToken
import io.devicerisksignals.observation.TransactionObservation
import io.devicerisksignals.platform.SystemFiles
import java.io.File
import org.robolectric.RuntimeEnvironment

internal val application: Application
  get() = RuntimeEnvironment.getApplication()

/** The scope from which a probe reads in a test: the simulated device, and a file system under [root]. */
internal fun scopeOf(
  probe: String,
  root: File = File("/nowhere"),
  context: Context = application,
  token: CallToken = CallToken(TIMEOUT_MS),
  observation: TransactionObservation = TransactionObservation({ null })
) = CallScope(probe, context, token, filesUnder(root), observation)

/** React Native's context around the simulated device. No other class of context can be made outside an app. */
@Suppress("DEPRECATION")
internal fun reactContextOf(context: Context = application): ReactApplicationContext =
  com.facebook.react.bridge.BridgeReactContext(context)

internal fun moduleOf(
  root: File = File("/nowhere"),
  context: Context = application,
  reactContext: ReactApplicationContext = reactContextOf(context)
) = DeviceRiskSignalsModule(reactContext, BRIDGE, filesUnder(root))

/** A request in the form in which the bridge delivers it. */
internal fun requestOf(
  fields: List<String> = emptyList(),
  sources: Map<String, Any> = emptyMap(),
  timeoutMs: Double = TIMEOUT_MS.toDouble()
): WritableMap = BRIDGE.mapOf(mapOf("fields" to fields, "sources" to sources, "timeoutMs" to timeoutMs))

internal fun DeviceRiskSignalsModule.ask(
  probe: String,
  fields: List<String> = emptyList(),
  sources: Map<String, Any> = emptyMap(),
  call: String = "1"
) = RecordingPromise().also { collect(call, probe, requestOf(fields, sources), it) }

/** Writes a file under the folder, and makes missing folders. */
internal fun File.write(path: String, bytes: ByteArray) {
  File(this, path).also { it.parentFile?.mkdirs() }.writeBytes(bytes)
}

/** A device that does not provide the services with these names, or denies access to them. */
internal class RefusingContext(private val refused: Set<String>) : ContextWrapper(application) {
  val asked = mutableListOf<String>()

  override fun getSystemService(name: String): Any? {
    asked += name
    if (name in refused) throw SecurityException("no permission for $name")
    return super.getSystemService(name)
  }

  override fun getApplicationContext(): Context = this
}

/** The simulated device has no `access`. A path that contains `denied` can't be accessed. */
private fun filesUnder(root: File) = SystemFiles(root) { path, mode ->
  when {
    "denied" in path -> null
    mode == OsConstants.F_OK -> File(path).exists()
    else -> File(path).canRead()
  }
}

private val BRIDGE = BridgeValues({ JavaOnlyMap() }, { JavaOnlyArray() })
private const val TIMEOUT_MS = 10_000L
