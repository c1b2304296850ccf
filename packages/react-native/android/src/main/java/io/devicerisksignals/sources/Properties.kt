package io.devicerisksignals.sources

import android.annotation.SuppressLint
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.call.Request.Companion.namesOf

/**
 * System properties by name: `""` if the property is not set, null if it is unknown whether it is set.
 *
 * `android.os.SystemProperties` is not public, but Android lists it among the interfaces that apps may use
 * (`unsupported`). A `getprop` process for each name would cost far more. For a property that this app may not read,
 * `SystemProperties` returns `""`, too; [PropertyAccess] distinguishes the two cases.
 */
@SuppressLint("PrivateApi")
internal fun properties(scope: CallScope, argument: Any?): Map<String, String?> {
  val get = Class.forName("android.os.SystemProperties").getMethod("get", String::class.java)
  val access by lazy(LazyThreadSafetyMode.NONE) { PropertyAccess.of(scope) }
  return namesOf(argument).associateWith { name ->
    scope.token.attempt {
      val value = get.invoke(null, name) as String
      value.takeIf { it.isNotEmpty() || access.isReadable(name) }
    }
  }
}
