package io.devicerisksignals.probes

import android.content.pm.PackageInfo
import android.content.pm.PackageInstaller
import android.content.pm.PackageManager
import android.content.pm.Signature
import android.os.Build
import androidx.annotation.RequiresApi
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.platform.Api28
import io.devicerisksignals.platform.Api33
import io.devicerisksignals.platform.Api34
import io.devicerisksignals.platform.sha256

/** The certificates that signed the installed app. */
internal fun signers(scope: CallScope): Fields {
  val packages = scope.context.packageManager
  if (Build.VERSION.SDK_INT < Build.VERSION_CODES.P) {
    @Suppress("DEPRECATION")
    val app = Once { packages.getPackageInfo(scope.context.packageName, PackageManager.GET_SIGNATURES) }
    @Suppress("DEPRECATION")
    return fieldsOf(
      app,
      "signingCertificateSha256" to { digests(signatures) },
      "hasMultipleSigners" to { signatures?.let { it.size > 1 } }
    )
  }
  val app = Once { packages.getPackageInfo(scope.context.packageName, PackageManager.GET_SIGNING_CERTIFICATES) }
  val read = { part: (PackageInfo) -> Any? -> { part(app.value) } }
  return mapOf(
    "signingCertificateSha256" to read { digests(Api28.signers(it)) },
    "signingCertificateHistorySha256" to read { digests(Api28.signerHistory(it)) },
    "hasMultipleSigners" to read(Api28::hasMultipleSigners)
  )
}

/** The source of the app, as its installer reported it to the system. */
internal fun installer(scope: CallScope): Fields {
  if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.R) return InstallSource.fields(scope)
  @Suppress("DEPRECATION")
  return mapOf(
    "installerPackage" to {
      scope.context.packageManager.getInstallerPackageName(scope.context.packageName)
    }
  )
}

@RequiresApi(Build.VERSION_CODES.R)
private object InstallSource {
  fun fields(scope: CallScope): Fields = fieldsOf(
    Once { scope.context.packageManager.getInstallSourceInfo(scope.context.packageName) },
    "installerPackage" to { installingPackageName },
    "installingPackageName" to { installingPackageName },
    "initiatingPackageName" to { initiatingPackageName },
    "initiatingPackageSigningCertificateSha256" to { digests(initiatingPackageSigningInfo?.apkContentsSigners) },
    "installPackageSource" to {
      if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.TIRAMISU) sourceName(Api33.packageSource(this)) else null
    },
    "updateOwnerPackageName" to {
      if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.UPSIDE_DOWN_CAKE) Api34.updateOwner(this) else null
    }
  )
}

private fun digests(certificates: Array<Signature>?): List<String>? = certificates?.map { sha256(it.toByteArray()) }

internal fun sourceName(source: Int): String? = when (source) {
  PackageInstaller.PACKAGE_SOURCE_UNSPECIFIED -> "unspecified"
  PackageInstaller.PACKAGE_SOURCE_OTHER -> "other"
  PackageInstaller.PACKAGE_SOURCE_STORE -> "store"
  PackageInstaller.PACKAGE_SOURCE_LOCAL_FILE -> "local_file"
  PackageInstaller.PACKAGE_SOURCE_DOWNLOADED_FILE -> "downloaded_file"
  else -> null
}
