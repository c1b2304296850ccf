package io.devicerisksignals.probes

import android.app.ActivityManager
import android.content.pm.ApplicationInfo
import android.content.pm.PackageInfo
import android.content.pm.PackageManager
import android.os.Build
import android.os.Process
import android.os.SystemClock
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.platform.Api26
import io.devicerisksignals.platform.Api28

internal fun application(scope: CallScope): Fields {
  val context = scope.context
  val app = Once { context.packageManager.getPackageInfo(context.packageName, 0) }
  return fieldsOf(
    app,
    "appVersion" to { versionName },
    "appBuild" to { versionCodeOf(this).toString() },
    "splitNames" to { splitNames?.toList().orEmpty() },
    "isSplitApks" to { !splitNames.isNullOrEmpty() },
    "firstInstallTimeMs" to { firstInstallTime },
    "lastUpdateTimeMs" to { lastUpdateTime }
  ) + manifest(scope) + signers(scope) + installer(scope) + mapOf(
    "bundleId" to { context.packageName },
    "isInstantApp" to {
      if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.O) Api26.isInstantApp(context.packageManager) else null
    },
    "grantedPermissions" to { grantedPermissions(scope) },
    "isForeground" to ::isForeground,
    "processUptimeMs" to { SystemClock.elapsedRealtime() - Process.getStartElapsedRealtime() },
    "androidUserId" to ::androidUserId,
    "isDataFolderOwn" to {
      isOwnDataFolder(context.applicationInfo.dataDir, androidUserId(), context.packageName)
    }
  )
}

private fun manifest(scope: CallScope): Fields {
  val flag = { mask: Int -> { scope.context.applicationInfo.flags and mask != 0 } }
  return mapOf(
    "appName" to { scope.context.applicationInfo.loadLabel(scope.context.packageManager).toString() },
    "targetSdkVersion" to { scope.context.applicationInfo.targetSdkVersion },
    "minSdkVersion" to { scope.context.applicationInfo.minSdkVersion },
    "isDebuggable" to flag(ApplicationInfo.FLAG_DEBUGGABLE),
    "isSystemApp" to flag(ApplicationInfo.FLAG_SYSTEM),
    "isUpdatedSystemApp" to flag(ApplicationInfo.FLAG_UPDATED_SYSTEM_APP),
    "isInstalledOnExternalStorage" to flag(ApplicationInfo.FLAG_EXTERNAL_STORAGE)
  )
}

private fun versionCodeOf(app: PackageInfo): Long = if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.P) {
  Api28.versionCode(app)
} else {
  @Suppress("DEPRECATION")
  app.versionCode.toLong()
}

private fun grantedPermissions(scope: CallScope): List<String> {
  val context = scope.context
  val app = context.packageManager.getPackageInfo(context.packageName, PackageManager.GET_PERMISSIONS)
  val asked = app.requestedPermissions ?: return emptyList()
  return asked.zip(checkNotNull(app.requestedPermissionsFlags).toList())
    .filter { (_, flag) -> flag and PackageInfo.REQUESTED_PERMISSION_GRANTED != 0 }
    .map { (name, _) -> name }
}

private fun isForeground(): Boolean {
  val process = ActivityManager.RunningAppProcessInfo()
  ActivityManager.getMyMemoryState(process)
  return process.importance == ActivityManager.RunningAppProcessInfo.IMPORTANCE_FOREGROUND
}

/**
 * Whether the system makes this folder for this app and user (`Environment.getDataUserCePackageDirectory` of AOSP and
 * its likes): `/data/user/0/app`, `user_de` in place of `user` for storage that opens before the first unlock, the same
 * on an adopted volume, and for user 0 also `/data/data/app`.
 */
internal fun isOwnDataFolder(folder: String, user: Int, app: String): Boolean =
  (user == 0 && folder == "/data/data/$app") ||
    Regex("(/data|/mnt/expand/[^/]+)/user(_de)?/$user/${Regex.escape(app)}").matches(folder)
