package io.devicerisksignals.sources

import android.annotation.SuppressLint
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.call.Request.Companion.namesOf

/**
 * System properties by name; `""` where one is not set.
 *
 * `android.os.SystemProperties` is not public, but it is on the list of what apps may use (`unsupported`), and a
 * `getprop` process for each name would cost far more. To a property that this app may not read it also says `""`:
 * [PropertyAccess] distinguishes the two.
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
