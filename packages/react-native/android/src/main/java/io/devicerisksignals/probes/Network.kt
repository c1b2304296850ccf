package io.devicerisksignals.probes

import android.net.ConnectivityManager
import android.net.LinkProperties
import android.net.NetworkCapabilities
import android.net.TrafficStats
import android.net.wifi.WifiInfo
import android.os.Build
import io.devicerisksignals.call.CallScope
import io.devicerisksignals.platform.Api28
import io.devicerisksignals.platform.Api29
import io.devicerisksignals.platform.Api31
import io.devicerisksignals.platform.addressText
import java.net.NetworkInterface

/**
 * Most fields need ACCESS_NETWORK_STATE. If the host app does not declare this permission, these fields are left out,
 * except `isVpnActive`, which is then concluded from the names of the interfaces.
 */
internal fun network(scope: CallScope): Fields =
  activeNetwork(scope) + link(scope) + proxy(scope) + trafficCounters() + mapOf(
    "interfaceNames" to { interfaces().map(NetworkInterface::getName) },
    "localIpAddresses" to {
      interfaces().filterNot { it.isLoopback }.flatMap { it.inetAddresses.toList() }.mapNotNull(::addressText)
    }
  )

private fun activeNetwork(scope: CallScope): Fields {
  val connectivity = Once { scope.service<ConnectivityManager>() }

  /**
   * Null if there is no network, or if the system blocks this app from the existing network. In both cases
   * `isConnected` is false, and the other fields are left out. If the network ends between the two reads, the read
   * fails.
   */
  val active = Once {
    connectivity.value.activeNetwork?.let { checkNotNull(connectivity.value.getNetworkCapabilities(it)) }
  }
  val capability = { id: Int -> { active.value?.hasCapability(id) } }
  return mapOf(
    "isConnected" to { active.value?.hasCapability(NetworkCapabilities.NET_CAPABILITY_INTERNET) ?: false },
    "isVpnActive" to {
      try {
        active.value?.hasTransport(NetworkCapabilities.TRANSPORT_VPN)
      } catch (_: SecurityException) {
        hasVpnInterface(interfaces().filter(NetworkInterface::isUp).map(NetworkInterface::getName))
      }
    },
    "isMetered" to { active.value?.let { connectivity.value.isActiveNetworkMetered } },
    "isInternetValidated" to capability(NetworkCapabilities.NET_CAPABILITY_VALIDATED),
    "hasCaptivePortal" to capability(NetworkCapabilities.NET_CAPABILITY_CAPTIVE_PORTAL),
    "connectionType" to
      { active.value?.transports()?.let { all -> all.firstOrNull { it != VPN } ?: all.firstOrNull() } },
    "networkTransportTypes" to { active.value?.transports() },
    // The system reports 0 if it has no estimate.
    "linkDownstreamKbps" to { active.value?.linkDownstreamBandwidthKbps?.takeIf { it > 0 } },
    "linkUpstreamKbps" to { active.value?.linkUpstreamBandwidthKbps?.takeIf { it > 0 } },
    "wifiSecurityType" to {
      if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.S) {
        active.value?.let(Api31::wifiSecurityType)?.let(WIFI_SECURITY_TYPES::get)
      } else {
        null
      }
    }
  )
}

/**
 * Whether one of the interfaces belongs to a VPN. VPN apps and the system's own VPN use `tun`, `tap` and `ppp`. Null if
 * only `ipsec` exists, which is no evidence, because calls over Wi-Fi use it, too.
 */
internal fun hasVpnInterface(names: List<String>): Boolean? = when {
  names.any(Regex("(tun|tap|ppp)\\d+")::matches) -> true
  names.any { it.startsWith("ipsec") } -> null
  else -> false
}

private const val VPN = "vpn"

internal val TRANSPORTS = mapOf(
  NetworkCapabilities.TRANSPORT_WIFI to "wifi",
  NetworkCapabilities.TRANSPORT_CELLULAR to "cellular",
  NetworkCapabilities.TRANSPORT_ETHERNET to "ethernet",
  NetworkCapabilities.TRANSPORT_BLUETOOTH to "bluetooth",
  NetworkCapabilities.TRANSPORT_USB to "usb",
  NetworkCapabilities.TRANSPORT_WIFI_AWARE to "wifi_aware",
  NetworkCapabilities.TRANSPORT_LOWPAN to "lowpan",
  NetworkCapabilities.TRANSPORT_THREAD to "thread",
  NetworkCapabilities.TRANSPORT_SATELLITE to "satellite",
  NetworkCapabilities.TRANSPORT_VPN to VPN
)

internal val WIFI_SECURITY_TYPES = mapOf(
  WifiInfo.SECURITY_TYPE_OPEN to "open",
  WifiInfo.SECURITY_TYPE_WEP to "wep",
  WifiInfo.SECURITY_TYPE_PSK to "psk",
  WifiInfo.SECURITY_TYPE_EAP to "eap",
  WifiInfo.SECURITY_TYPE_SAE to "sae",
  WifiInfo.SECURITY_TYPE_EAP_WPA3_ENTERPRISE to "eap_wpa3_enterprise",
  WifiInfo.SECURITY_TYPE_EAP_WPA3_ENTERPRISE_192_BIT to "eap_wpa3_enterprise_192_bit",
  WifiInfo.SECURITY_TYPE_OWE to "owe",
  WifiInfo.SECURITY_TYPE_WAPI_PSK to "wapi_psk",
  WifiInfo.SECURITY_TYPE_WAPI_CERT to "wapi_cert",
  WifiInfo.SECURITY_TYPE_OSEN to "osen",
  WifiInfo.SECURITY_TYPE_PASSPOINT_R1_R2 to "passpoint_r1_r2",
  WifiInfo.SECURITY_TYPE_PASSPOINT_R3 to "passpoint_r3",
  WifiInfo.SECURITY_TYPE_DPP to "dpp"
)

private fun NetworkCapabilities.transports(): List<String> = TRANSPORTS.filterKeys(::hasTransport).values.toList()

private fun link(scope: CallScope): Fields {
  val link = Once {
    val connectivity = scope.service<ConnectivityManager>()
    checkNotNull(connectivity.getLinkProperties(connectivity.activeNetwork))
  }
  val fromPie = { read: (LinkProperties) -> Any? ->
    { if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.P) read(link.value) else null }
  }
  return fieldsOf(
    link,
    "dnsServerAddresses" to { dnsServers.mapNotNull(::addressText) },
    "activeNetworkMtu" to {
      if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) Api29.mtu(this).takeIf { it > 0 } else null
    }
  ) + mapOf(
    "isPrivateDnsActive" to fromPie(Api28::isPrivateDnsActive),
    "privateDnsServerName" to fromPie(Api28::privateDnsServerName)
  )
}

/**
 * Reads the proxy. If a script selects the proxy, only the host and the port of the script's address are read, because
 * the rest of the address may contain secrets.
 */
private fun proxy(scope: CallScope): Fields {
  val proxy = Once { scope.service<ConnectivityManager>().defaultProxy }
  val script = Once { proxy.value?.pacFileUrl?.takeUnless { it.toString().isEmpty() } }
  return mapOf(
    "isProxyConfigured" to {
      script.value != null || !proxy.value?.host.isNullOrEmpty() || System.getProperty("socksProxyHost") != null
    },
    "proxyHost" to {
      (if (script.value == null) proxy.value?.host else script.value?.host) ?: System.getProperty("socksProxyHost")
    },
    "proxyPort" to {
      val port = if (script.value == null) proxy.value?.port else script.value?.port
      (port ?: System.getProperty("socksProxyPort")?.toInt())?.takeIf { it > 0 }
    }
  )
}

private fun trafficCounters(): Fields {
  val counted = { bytes: Long -> bytes.takeIf { it >= 0 } }
  val exceptMobile = { total: Long, mobile: Long ->
    if (total < 0 || mobile < 0) null else counted(total - mobile)
  }
  return mapOf(
    "mobileRxBytes" to { counted(TrafficStats.getMobileRxBytes()) },
    "mobileTxBytes" to { counted(TrafficStats.getMobileTxBytes()) },
    "wifiRxBytes" to { exceptMobile(TrafficStats.getTotalRxBytes(), TrafficStats.getMobileRxBytes()) },
    "wifiTxBytes" to { exceptMobile(TrafficStats.getTotalTxBytes(), TrafficStats.getMobileTxBytes()) }
  )
}

private fun interfaces(): List<NetworkInterface> = checkNotNull(NetworkInterface.getNetworkInterfaces()).toList()
