package io.devicerisksignals.sources

import android.content.Context
import android.content.pm.PackageManager
import android.os.Build
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.call.Request.Companion.namesOf

/** The name of the manifest's `<meta-data>` element that lists the probes for which the `<queries>` are declared. */
internal const val DECLARED_QUERIES = "io.devicerisksignals.QUERIES"

/** Which paths exist. */
internal fun paths(scope: CallScope, argument: Any?) = presence(scope, namesOf(argument), scope.files::exists)

/**
 * Which executables the folders of PATH contain. An executable that exists is listed with each of its full paths. A
 * name is absent if every folder was examined and no folder contains it.
 */
internal fun executables(scope: CallScope, argument: Any?): Map<String, List<String>> {
  val folders = checkNotNull(System.getenv("PATH")).split(':').filter(String::isNotEmpty).distinct()
  val looked = namesOf(argument).associateWith { name ->
    presence(scope, folders.map { folder -> "${folder.trimEnd('/')}/$name" }, scope.files::exists)
  }
  return mapOf(
    "present" to looked.values.flatMap { it.getValue("present") },
    "absent" to looked.filterValues { it.getValue("absent").size == folders.size }.keys.toList()
  )
}

/** Which environment variables are set. */
internal fun environment(scope: CallScope, argument: Any?) =
  presence(scope, namesOf(argument)) { name -> System.getenv(name) != null }

/** Which classes can be loaded, without initialising them. */
internal fun classes(scope: CallScope, argument: Any?): Map<String, List<String>> {
  val loader = scope.context.classLoader
  return presence(scope, namesOf(argument)) { name ->
    try {
      Class.forName(name, false, loader)
      true
    } catch (_: ClassNotFoundException) {
      false
    }
  }
}

/**
 * Which packages are installed. From API 30 on, a package that this app does not see is absent only if the manifest
 * says that the packages of this probe are declared. Otherwise it is unknown.
 */
internal fun packages(scope: CallScope, argument: Any?): Map<String, List<String>> {
  val seesAll = Build.VERSION.SDK_INT < Build.VERSION_CODES.R || scope.probe in declaredProbes(scope.context)
  return presence(scope, namesOf(argument)) { name ->
    try {
      scope.context.packageManager.getPackageInfo(name, 0)
      true
    } catch (_: PackageManager.NameNotFoundException) {
      if (seesAll) false else null
    }
  }
}

private fun declaredProbes(context: Context): Set<String> {
  val info = context.packageManager.getApplicationInfo(context.packageName, PackageManager.GET_META_DATA)
  return info.metaData?.getString(DECLARED_QUERIES).orEmpty().split(',').map(String::trim).toSet()
}

/** Divides names into present and absent ones. If [look] returns null or throws, the name is in neither list. */
private fun presence(scope: CallScope, names: List<String>, look: (String) -> Boolean?): Map<String, List<String>> {
  val found = names.groupBy { name -> scope.token.attempt { look(name) } }
  return mapOf("present" to found[true].orEmpty(), "absent" to found[false].orEmpty())
}
