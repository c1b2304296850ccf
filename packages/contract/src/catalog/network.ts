import { additions, boolean, number, type Probe, string, strings } from "./declare.ts";
import { NETWORK } from "./disclosure.ts";
import { ADDRESS } from "./forms.ts";

const TRANSPORTS = [
  "wifi",
  "cellular",
  "ethernet",
  "bluetooth",
  "usb",
  "wifi_aware",
  "lowpan",
  "thread",
  "satellite",
  "vpn",
];

export const network: Probe = {
  id: "network",
  title: "Network",
  meaning:
    "The network path as the device sees it, without sending anything: link, VPN, proxy, DNS, local addresses, byte counters.",
  platforms: ["android", "ios"],
  enabledByDefault: true,
  disclosure: NETWORK,
  fields: {
    isConnected: boolean("The OS reports a usable network; says nothing about reaching any particular server.", {
      sensitivity: "medium",
      permission: { android: "ACCESS_NETWORK_STATE" },
    }),
    connectionType: string("Kind of link the active network uses, such as Wi-Fi or cellular.", {
      sensitivity: "medium",
      permission: { android: "ACCESS_NETWORK_STATE" },
      values: { android: TRANSPORTS, ios: ["wifi", "cellular", "ethernet", "other"] },
    }),
    networkTransportTypes: strings(
      "All transports of the active network (NetworkCapabilities.hasTransport); a VPN lists its carriers too.",
      {
        on: "android",
        sensitivity: "medium",
        permission: { android: "ACCESS_NETWORK_STATE" },
        values: TRANSPORTS,
      },
    ),
    isMetered: boolean("ConnectivityManager.isActiveNetworkMetered: data use counts against a limit or costs money.", {
      on: "android",
      sensitivity: "medium",
      permission: { android: "ACCESS_NETWORK_STATE" },
    }),
    isInternetValidated: boolean(
      "NET_CAPABILITY_VALIDATED: the system itself has reached the internet over this network.",
      {
        on: "android",
        sensitivity: "medium",
        permission: { android: "ACCESS_NETWORK_STATE" },
      },
    ),
    hasCaptivePortal: boolean(
      "NET_CAPABILITY_CAPTIVE_PORTAL: a sign-in page must be passed before the internet is reachable.",
      {
        on: "android",
        sensitivity: "medium",
        permission: { android: "ACCESS_NETWORK_STATE" },
      },
    ),
    linkDownstreamKbps: number(
      "kbps",
      "NetworkCapabilities.getLinkDownstreamBandwidthKbps: the system's estimate, not a measurement.",
      {
        on: "android",
        sensitivity: "medium",
        permission: { android: "ACCESS_NETWORK_STATE" },
      },
    ),
    linkUpstreamKbps: number(
      "kbps",
      "NetworkCapabilities.getLinkUpstreamBandwidthKbps: the system's estimate, not a measurement.",
      {
        on: "android",
        sensitivity: "medium",
        permission: { android: "ACCESS_NETWORK_STATE" },
      },
    ),
    activeNetworkMtu: number(
      "bytes",
      "LinkProperties.getMtu: largest packet of the active network; absent when the system states none.",
      {
        on: "android",
        sensitivity: "medium",
        permission: { android: "ACCESS_NETWORK_STATE" },
        systems: { android: { since: 29 } },
      },
    ),

    isVpnActive: boolean(
      "Traffic uses a VPN as far as the OS reports; a VPN on the router can't be seen. On Android without the permission it is concluded from the names of the interfaces that are up; a VPN of another profile counts then.",
      {
        sensitivity: "medium",
        permission: { android: "ACCESS_NETWORK_STATE" },
      },
    ),
    isProxyConfigured: boolean(
      "An HTTP, PAC or SOCKS proxy is set for the active network; false means that the SDK looked and found none.",
      { sensitivity: "medium" },
    ),
    proxyHost: string("Host of the configured proxy; absent when none is set.", { sensitivity: "high", raw: true }),
    proxyPort: number("port", "Port of the configured proxy; absent when none is set.", { sensitivity: "medium" }),
    isPrivateDnsActive: boolean(
      "LinkProperties.isPrivateDnsActive: names are looked up over an encrypted connection.",
      {
        on: "android",
        sensitivity: "medium",
        permission: { android: "ACCESS_NETWORK_STATE" },
        systems: { android: { since: 28 } },
      },
    ),
    privateDnsServerName: string(
      "LinkProperties.getPrivateDnsServerName: the private DNS host set by hand; absent in automatic mode.",
      {
        on: "android",
        sensitivity: "high",
        permission: { android: "ACCESS_NETWORK_STATE" },
        raw: true,
        systems: { android: { since: 28 } },
      },
    ),
    dnsServerAddresses: strings(
      "LinkProperties.getDnsServers: addresses of the DNS servers of the active network. Link-local ones and those made from a hardware address (EUI-64) are left out.",
      {
        on: "android",
        sensitivity: "high",
        permission: { android: "ACCESS_NETWORK_STATE" },
        form: ADDRESS,
      },
    ),

    interfaceNames: strings("Names of the network interfaces; a tunnel's name is no proof of a VPN (utun on iOS).", {
      sensitivity: "medium",
      raw: true,
    }),
    localIpAddresses: strings(
      "Addresses of the device's own interfaces; not the address a server sees behind NAT. Link-local ones and those made from a hardware address (EUI-64) are left out.",
      {
        sensitivity: "high",
        form: ADDRESS,
      },
    ),
    wifiSsid: string("Name of the joined Wi-Fi network. Never filled: needs location permission or an entitlement.", {
      on: "never",
      sensitivity: "high",
    }),
    wifiBssid: string(
      "Hardware address of the joined access point. Never filled: needs location permission or an entitlement.",
      {
        on: "never",
        sensitivity: "high",
      },
    ),

    mobileRxBytes: number("bytes", "TrafficStats.getMobileRxBytes: received over mobile by all apps since boot.", {
      on: "android",
      sensitivity: "medium",
    }),
    mobileTxBytes: number("bytes", "TrafficStats.getMobileTxBytes: sent over mobile by all apps since boot.", {
      on: "android",
      sensitivity: "medium",
    }),
    wifiRxBytes: number(
      "bytes",
      "Received since boot other than over mobile (TrafficStats total less mobile): mostly Wi-Fi.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    wifiTxBytes: number(
      "bytes",
      "Sent since boot other than over mobile (TrafficStats total less mobile): mostly Wi-Fi.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),

    ...additions({
      wifiSecurityType: string(
        "WifiInfo.getCurrentSecurityType: how the Wi-Fi that is the active network protects its link; absent on another network and in a VPN. `open` and `owe` need no password, as in many hotels; a phone's hotspot is `psk` or `sae`. Names and addresses of the network are not read.",
        {
          on: "android",
          sensitivity: "medium",
          permission: { android: "ACCESS_NETWORK_STATE" },
          values: [
            "open",
            "wep",
            "psk",
            "eap",
            "sae",
            "eap_wpa3_enterprise",
            "eap_wpa3_enterprise_192_bit",
            "owe",
            "wapi_psk",
            "wapi_cert",
            "osen",
            "passpoint_r1_r2",
            "passpoint_r3",
            "dpp",
          ],
          systems: { android: { since: 31 } },
        },
      ),
    }),
  },
};
