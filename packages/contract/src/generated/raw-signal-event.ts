// Generated from the catalog by `npm run generate`. Do not edit.

/** Any JSON value. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [member: string]: JsonValue | undefined };

/** The probe ran to its end. A field that is not in `data` was omitted, which is not `false`. */
export interface SuccessOutcome<Data> {
  readonly status: "success";
  readonly data: Data;
}

/** The probe was not run. */
export interface SkippedOutcome {
  readonly status: "skipped";
  readonly reason: string;
}

/** The probe did not end in time. */
export interface TimeoutOutcome {
  readonly status: "timeout";
}

/** The probe failed. */
export interface ErrorOutcome {
  readonly status: "error";
  readonly error: string;
}

/** The outcome of one probe. The absence of the probe's key, *omitted*, is a state of its own. */
export type ProbeOutcome<Data = { readonly [field: string]: JsonValue | undefined }> =
  | SuccessOutcome<Data>
  | SkippedOutcome
  | TimeoutOutcome
  | ErrorOutcome;

/** The data of each known probe. */
export interface ProbeDataById {
  /** What make, model and OS build the device says it is. Shared by all devices of that kind; no identifier of one device. */
  readonly device_identity: DeviceIdentityData;
  /** Screen, processor, memory, battery, storage and NFC, as the platform reports them at the moment of collection. */
  readonly hardware: HardwareData;
  /** A digest of the fonts that the system brings: changes with OS version and maker, on iOS also with added fonts. */
  readonly fonts: FontsData;
  /** Traces of root, jailbreak, hooks, debuggers and emulators. Observations, not a verdict: each has innocent causes. */
  readonly os_integrity: OsIntegrityData;
  /** Whether a Frida server answers on loopback. Off by default: it opens sockets on the device itself. */
  readonly os_integrity_frida_scan: OsIntegrityFridaScanData;
  /** Whether the sandbox lets the app fork. Off by default: the attempt may end the app. */
  readonly os_integrity_fork_test: OsIntegrityForkTestData;
  /** The network path as the device sees it, without sending anything: link, VPN, proxy, DNS, local addresses, byte counters. */
  readonly network: NetworkData;
  /** SIM and mobile network as apps may read them without a telephone permission; no number, no subscriber identity. */
  readonly telephony: TelephonyData;
  /** Language, region, time zone and formats the person chose. A choice, not a place: it does not show where the device is. */
  readonly locale: LocaleData;
  /** A position the platform already has or gives under a permission granted before; the SDK never asks the user for one. */
  readonly geolocation: GeolocationData;
  /** Audio, screens, accessibility use and listed apps around a session, for hosts that look for remote control. */
  readonly media_bluetooth_apps: MediaBluetoothAppsData;
  /** Name of the graphics processor and the times of a short drawing run. Off by default: it costs time and power. */
  readonly gpu_benchmark: GpuBenchmarkData;
  /** Delays and buffer sizes of the audio path. Nothing is recorded and no microphone permission is used. */
  readonly audio_latency: AudioLatencyData;
  /** The host app as installed: version, signer, where it came from, and what it was granted. */
  readonly application: ApplicationData;
  /** How well the device is secured by its own means: lock screen, biometrics, key storage, patch level, clock. */
  readonly device_security_posture: DeviceSecurityPostureData;
  /** What the SDK noticed during the observation window (screenshots, touches while another window covered that of the app), and the state at collection: screen capture, calls, remote access apps. */
  readonly transaction_safety: TransactionSafetyData;
  /** The JavaScript engine and the React Native architecture the host app runs on. Shared by all installs of an app build. */
  readonly runtime: RuntimeData;
  /** How finely clocks tick and how evenly code runs, in JavaScript and natively. Varies with load: compare distributions only. */
  readonly runtime_timing: RuntimeTimingData;
  /** Whether fixed calculations come out as they must. Deviations point to translation, emulation or a patched engine. */
  readonly numeric_consistency: NumericConsistencyData;
}

export type ProbeId = keyof ProbeDataById;

export type ProbeOutcomes = { readonly [Id in ProbeId]?: ProbeOutcome<ProbeDataById[Id]> };

/** One collection: raw observations, no score, no verdict. Unknown probes and members are kept by the endpoint. */
export interface RawSignalEvent {
  /** The `sessionId` that was passed to `collect`. 1 to 128 code points. */
  readonly session_id: string;
  /** What the host set after authentication. Never proof of identity. */
  readonly client_id?: string;
  readonly event_type: "device_intel_collection";
  readonly schema_version: 1;
  /** RFC 3339 date-time with an offset: the device's claim. */
  readonly collected_at: string;
  readonly probes: ProbeOutcomes;
}

export interface DeviceIdentityAndroidBuild {
  /** Build.BOARD: name of the underlying board. Only on android. */
  readonly board?: string;
  /** Build.BOOTLOADER: version of the bootloader; says nothing about whether it is locked. Only on android. */
  readonly bootloader?: string;
  /** Build.DEVICE: name of the industrial design. Only on android. */
  readonly device?: string;
  /** Build.DISPLAY: the build identifier as shown to users. Only on android. */
  readonly display?: string;
  /** Build.FINGERPRINT: names this system build, not this device. Only on android. */
  readonly fingerprint?: string;
  /** Build.HARDWARE: name of the hardware, from the kernel. Only on android. */
  readonly hardware?: string;
  /** Build.HOST: the machine on which the system image was built. Only on android. */
  readonly host?: string;
  /** Build.ID: change list number or label of the build. Only on android. */
  readonly id?: string;
  /** Build.PRODUCT: name of the overall product. Only on android. */
  readonly product?: string;
  /** Build.TAGS: comma-separated tags of the build, such as release-keys. Only on android. */
  readonly tags?: string;
  /** Build.TYPE: kind of build, such as user or userdebug. Only on android. */
  readonly buildType?: string;
  /** Build.VERSION.CODENAME: development codename; REL on a released version. Only on android. */
  readonly codename?: string;
  /** Build.VERSION.INCREMENTAL: the maker's internal number of this build. Only on android. */
  readonly incremental?: string;
  /** Build.VERSION.SECURITY_PATCH: date of the security patch level the build declares. Only on android. */
  readonly securityPatch?: string;
  /** Build.VERSION.BASE_OS: the build this one is based on; often empty. Only on android. */
  readonly baseOs?: string;
  /** Build.SOC_MANUFACTURER: maker of the main chip (API 31 and later). Only on android. */
  readonly socManufacturer?: string;
  /** Build.SOC_MODEL: model of the main chip (API 31 and later). Only on android. */
  readonly socModel?: string;
  /** Build.SUPPORTED_ABIS: instruction sets the device can run, the preferred one first. Only on android. */
  readonly supportedAbis?: readonly string[];
  /** Build.VERSION.SDK_INT: API level of the running system. Unit: API level. Only on android. */
  readonly sdkInt?: number;
  /** Build.TIME: when the system image was built. Unit: epoch ms. Only on android. */
  readonly buildTimeMs?: number;
}

export interface DeviceIdentityData {
  /** Maker of the device: Build.MANUFACTURER on Android, always "Apple" on iOS. */
  readonly manufacturer: string;
  /** Model: Build.MODEL on Android, the machine identifier (the form iPhone15,2) on iOS; not a marketing name. */
  readonly model: string;
  /** Brand the device is sold under: Build.BRAND on Android, always "Apple" on iOS. */
  readonly brand: string;
  /** The device is of the tablet class, by smallest screen width on Android and interface idiom on iOS. */
  readonly isTablet: boolean;
  /** Name of the operating system; UIDevice.systemName on iOS. */
  readonly systemName: string;
  /** Version of the OS as users see it: Build.VERSION.RELEASE on Android, UIDevice.systemVersion on iOS. */
  readonly systemVersion: string;
  /** Identifier of the OS build; finer than systemVersion. */
  readonly osBuild?: string;
  /** Version text of the running kernel, with its build details, as the kernel reports it. */
  readonly kernelVersion?: string;
  /** Release number of the running kernel, as uname reports it. */
  readonly kernelOsRelease?: string;
  /** Name of the kernel's system, as uname reports it: Linux or Darwin. */
  readonly kernelOsType?: string;
  /** The iOS app runs unmodified on a Mac (NSProcessInfo.isiOSAppOnMac). Only on ios. */
  readonly isIosAppOnMac?: boolean;
  /** The process runs on a Mac as a Catalyst app (NSProcessInfo.isMacCatalystApp). Only on ios. */
  readonly isMacCatalystApp?: boolean;
  /** The constants of android.os.Build, as the system image declares them; a modified system can declare anything. Only on android. */
  readonly androidBuild?: DeviceIdentityAndroidBuild;
}

export interface HardwareData {
  /** Width of the screen in pixels, as it is now oriented and scaled. Unit: px. */
  readonly screenWidthPx?: number;
  /** Height of the screen in pixels, as it is now oriented and scaled. Unit: px. */
  readonly screenHeightPx?: number;
  /** Pixels per layout unit: DisplayMetrics.density on Android, UIScreen.scale on iOS. Unit: ratio. */
  readonly screenDensity?: number;
  /** Density in use (DisplayMetrics.densityDpi); follows the display size the user chose. Unit: dpi. Only on android. */
  readonly screenDpi?: number;
  /** Width of the panel itself: Display.Mode.getPhysicalWidth on Android, UIScreen.nativeBounds on iOS. Unit: px. */
  readonly screenPhysicalWidthPx?: number;
  /** Height of the panel itself: Display.Mode.getPhysicalHeight on Android, UIScreen.nativeBounds on iOS. Unit: px. */
  readonly screenPhysicalHeightPx?: number;
  /** Panel pixels per layout unit: UIScreen.nativeScale on iOS, the device's own density on Android. Unit: ratio. */
  readonly screenPhysicalDensity?: number;
  /** Brightness of the screen from 0 to 1, as set at this moment: UIScreen.brightness on iOS. Unit: ratio. */
  readonly screenBrightness?: number;
  /** Portrait or landscape, from Configuration.orientation; of the screen, not of the device in the hand. Only on android. */
  readonly screenOrientation?: string;
  /** Logical processors: Runtime.availableProcessors on Android, NSProcessInfo.processorCount on iOS. Unit: count. */
  readonly processorCount?: number;
  /** Processor architecture as the runtime reports it; a translated app sees the translated one. Only on android. */
  readonly cpuArchitecture?: string;
  /** Highest clock rate of any core the kernel lists; absent where the kernel's files can't be read. Unit: MHz. Only on android. */
  readonly cpuMaxFrequencyMhz?: number;
  /** Main memory the OS can use: MemoryInfo.totalMem on Android, NSProcessInfo.physicalMemory on iOS. Unit: bytes. */
  readonly totalMemoryBytes?: number;
  /** Memory still available, as the OS counts it: ActivityManager.MemoryInfo.availMem on Android. Unit: bytes. */
  readonly freeMemoryBytes?: number;
  /** Main memory this app's process occupies now (resident set size). Unit: bytes. */
  readonly processResidentMemoryBytes?: number;
  /** Runtime.maxMemory: upper bound of this app's managed heap. Unit: bytes. Only on android. */
  readonly runtimeMaxMemoryBytes?: number;
  /** ActivityManager.MemoryInfo.lowMemory: the system is short of memory at this moment. Only on android. */
  readonly isLowMemory?: boolean;
  /** ActivityManager.isLowRamDevice: built as a device with little memory; not whether it is short of it now. Only on android. */
  readonly isLowRamDevice?: boolean;
  /** Charge of the battery from 0 to 1. Unit: ratio. */
  readonly batteryLevel?: number;
  /** Whether the battery is charging, discharging or full; on iOS discharging means unplugged. */
  readonly batteryState?: string;
  /** Condition of the battery (BatteryManager.EXTRA_HEALTH), such as good or overheated. Only on android. */
  readonly batteryHealth?: string;
  /** Temperature of the battery (BatteryManager.EXTRA_TEMPERATURE). Unit: °C. Only on android. */
  readonly batteryTemperatureC?: number;
  /** Voltage of the battery (BatteryManager.EXTRA_VOLTAGE). Unit: mV. Only on android. */
  readonly batteryVoltageMv?: number;
  /** Chemistry of the battery (BatteryManager.EXTRA_TECHNOLOGY), such as Li-ion. Only on android. */
  readonly batteryTechnology?: string;
  /** A battery is fitted (BatteryManager.EXTRA_PRESENT). Only on android. */
  readonly batteryPresent?: boolean;
  /** The system counts the charge as low (BatteryManager.EXTRA_BATTERY_LOW). Only on android. */
  readonly batteryLow?: boolean;
  /** Charge cycles so far (BatteryManager.EXTRA_CYCLE_COUNT, API 34 and later). Unit: count. Only on android. */
  readonly batteryCycleCount?: number;
  /** What supplies power (BatteryManager.EXTRA_PLUGGED), such as mains, USB or wireless. Only on android. */
  readonly powerSource?: string;
  /** Estimated time until fully charged (BatteryManager.computeChargeTimeRemaining); absent when unknown. Unit: ms. Only on android. */
  readonly chargeTimeRemainingMs?: number;
  /** Battery saving is on: PowerManager.isPowerSaveMode on Android, Low Power Mode on iOS. */
  readonly lowPowerModeEnabled?: boolean;
  /** Size of the file system that holds app data (StatFs), not the advertised size. Unit: bytes. Only on android. */
  readonly storageTotalBytes?: number;
  /** Free space of the file system that holds app data (StatFs). Unit: bytes. Only on android. */
  readonly storageFreeBytes?: number;
  /** The device has an NFC adapter; false means that the SDK looked and found none. Only on android. */
  readonly nfcAvailable?: boolean;
  /** The NFC adapter is switched on (NfcAdapter.isEnabled). Only on android. */
  readonly nfcEnabled?: boolean;
  /** Time since boot; with the clock it gives the moment of boot. Unit: ms. Only on android. */
  readonly uptimeMs?: number;
  /** Name of the graphics processor, read without drawing: GL_RENDERER on Android, MTLDevice.name on iOS. An emulator names the processor of its host or a renderer in software, such as SwiftShader; test devices and desktops that run mobile apps do so, too. */
  readonly gpuRendererName?: string;
}

export interface FontsData {
  /** SHA-256 over sorted names, the list itself never leaves the device. Android: names of the files in /system/fonts and /product/fonts, not their content. iOS: PostScript names of all available fonts. Compare within one platform only. */
  readonly fontsDigest?: string;
}

export interface OsIntegrityData {
  /** A debugger is attached to this process now; ordinary for a debug build. */
  readonly isDebuggerAttached: boolean;
  /** Debug.waitingForDebugger: the process is held until a debugger attaches. Only on android. */
  readonly isDebuggerWaiting?: boolean;
  /** Another process traces this one, by TracerPid in /proc/self/status. Only on android. */
  readonly tracedByOtherProcess?: boolean;
  /** Process id of the tracer, from /proc/self/status; 0 means that nothing traces. Unit: none. Only on android. */
  readonly tracerPid?: number;
  /** The parent of this process is not launchd; normal under a debugger, on a Mac or in a simulator. Only on ios. */
  readonly parentPidUnexpected?: boolean;
  /** Developer options are on, as the settings report it; Android 17 QPR1 and later may hide it from apps. A constant on ios: read it as omitted there. */
  readonly developerModeEnabled: boolean;
  /** USB debugging (adb) is on. Never filled: apps have no reliable way to read it. Never filled by the SDK. */
  readonly usbDebuggingEnabled?: boolean;
  /** ActivityManager.isRunningInUserTestHarness: the device is set up for automated tests. Only on android. */
  readonly isRunningInUserTestHarness?: boolean;
  /** Enforcement of hidden-API limits as set for this device; absent when nothing is set or it can't be read. Only on android. */
  readonly hiddenApiPolicy?: string;
  /** An su executable exists at a listed path; false means that all were examined and none was seen. */
  readonly suBinaryFound?: boolean;
  /** An su executable exists in one of the folders of PATH. Only on android. */
  readonly suOnPath?: boolean;
  /** A listed root manager or, on iOS, jailbreak store is installed; only listed ones are looked for. */
  readonly rootManagementAppFound?: boolean;
  /** A listed app that patches other apps or needs root is installed; false means that the SDK looked and found none. Only on android. */
  readonly dangerousAppFound?: boolean;
  /** A listed app that hides root is installed; false means that the SDK looked and found none. Only on android. */
  readonly rootCloakingAppFound?: boolean;
  /** At least one listed root or jailbreak path exists; false means that all were examined and none was seen. */
  readonly suspiciousFilePathsFound?: boolean;
  /** The listed root or jailbreak paths that exist. */
  readonly suspiciousFilePaths?: readonly string[];
  /** How many of the listed root or jailbreak paths exist. Unit: count. */
  readonly suspiciousPathCount?: number;
  /** A place that a stock system keeps read-only to apps is mounted writable or could be written. */
  readonly writableSystemPathFound?: boolean;
  /** The mount table has entries that root tools leave behind. Only on android. */
  readonly suspiciousMountsFound?: boolean;
  /** The mount table names Magisk. Only on android. */
  readonly magiskMountsFound?: boolean;
  /** An abstract socket with the marks of Magisk's daemon was seen; a long random name without them does not count. Only on android. */
  readonly magiskAbstractSocketFound?: boolean;
  /** Files of the system image are overlaid by a module of a root tool. Only on android. */
  readonly magicMountModulesFound?: boolean;
  /** Traces of code injected through zygote (Zygisk or its like) were seen in this process. Only on android. */
  readonly zygiskIndicatorsFound?: boolean;
  /** A listed jailbreak URL scheme can be opened, and another trace of a jailbreak was seen: any app may claim a scheme. Absent when not declared. Only on ios. */
  readonly canOpenJailbreakScheme?: boolean;
  /** A system folder that is a plain folder on a stock device is a symbolic link. Only on ios. */
  readonly symbolicLinksSuspicious?: boolean;
  /** A listed tweak that hides a jailbreak was seen. Only on ios. */
  readonly jailbreakBypassDetected?: boolean;
  /** System properties say that the bootloader is locked; root can rewrite properties. Only on android. */
  readonly bootloaderLocked?: boolean;
  /** ro.boot.verifiedbootstate as readable: green, yellow, orange or red; root can rewrite it. Only on android. */
  readonly verifiedBootState?: string;
  /** SELinux enforces its policy; false means that the SDK read it as permissive; absent if it can't be read. Only on android. */
  readonly selinuxEnforcing?: boolean;
  /** The system build carries the tag test-keys; custom and some vendor builds do. Only on android. */
  readonly testKeysBuild?: boolean;
  /** At least one system property has a value that a stock user build does not have. Only on android. */
  readonly dangerousPropsPresent?: boolean;
  /** The system properties with such values. Only on android. */
  readonly dangerousSystemProperties?: readonly string[];
  /** The app's executable has App Store encryption; false is normal for development builds. Only on ios. */
  readonly mainExecutableEncrypted?: boolean;
  /** A known hooking framework was recognised; false means that the SDK looked for the listed ones and found none. */
  readonly hookFrameworkFound?: boolean;
  /** A stack trace of this app holds frames of a hooking framework. Only on android. */
  readonly hookStackFrameFound?: boolean;
  /** The stack frames that belong to a hooking framework. Only on android. */
  readonly hookStackFrames?: readonly string[];
  /** Listed classes of hooking frameworks that this process can load. Only on android. */
  readonly loadedHookClassNames?: readonly string[];
  /** A listed instrumentation library is loaded in this process; false means that the SDK looked and found none. */
  readonly injectedLibrariesFound?: boolean;
  /** Names of the listed instrumentation libraries that are loaded. */
  readonly injectedLibraryNames?: readonly string[];
  /** How many listed instrumentation libraries are loaded. Unit: count. */
  readonly injectedLibraryCount?: number;
  /** Images the dynamic linker has loaded into this process; compare only within one app build and OS. Unit: count. Only on ios. */
  readonly dyldImageCount?: number;
  /** Executable memory is mapped from a place that neither app, system nor JIT accounts for. Only on android. */
  readonly suspiciousExecutableMappingsFound?: boolean;
  /** Threads of this process whose names are those of Frida's; some also occur in other libraries. Only on android. */
  readonly fridaThreadNamesFound?: readonly string[];
  /** A pipe of Frida's injector (linjector) is open in this process. Only on android. */
  readonly fridaInjectorPipeFound?: boolean;
  /** A listener on one of Frida's default ports was seen; which program listens was not examined. Only on android. */
  readonly fridaListenerPortFound?: boolean;
  /** Listed ports of analysis tools that accept connections on this device; empty means none did. Unit: port. Only on ios. */
  readonly openReverseEngineeringPorts?: readonly number[];
  /** The environment variable LD_PRELOAD is set in this process. Only on android. */
  readonly ldPreloadSet?: boolean;
  /** Value of LD_PRELOAD; absent when it is not set. Only on android. */
  readonly ldPreloadValue?: string;
  /** At least one listed injection variable is set in this process; false means none is. */
  readonly suspiciousEnvironmentVariablesFound?: boolean;
  /** Names, never values, of the listed injection variables that are set. */
  readonly suspiciousEnvironmentVariableNames?: readonly string[];
  /** Several markers together, or the simulator build itself, say that the device is virtual; one weak marker is not enough. */
  readonly isEmulator: boolean;
  /** The build or device identity has the pattern of a known emulator or simulator. */
  readonly emulatorFingerprintMatch?: boolean;
  /** Values of the OS build that emulators use; vendor and test builds use some of them too. */
  readonly emulatorBuildMarkers?: readonly string[];
  /** At least one listed file of an emulator exists; false means that all were examined and none was seen. */
  readonly emulatorFilesFound?: boolean;
  /** The listed emulator files that exist. */
  readonly emulatorFilePaths?: readonly string[];
  /** System properties whose presence or value points to an emulator. */
  readonly emulatorSystemPropertyMarkers?: readonly string[];
  /** Marks of virtual or translated processors; Chromebooks show some of them. */
  readonly emulatorCpuMarkers?: readonly string[];
  /** Names of the emulator products that the markers seen belong to. */
  readonly emulatorVendorMarkers?: readonly string[];
  /** The emulator checks that could run; a marker of any other check is unknown, not absent. */
  readonly emulatorChecksPerformed?: readonly string[];
  /** Marks of remotely operated test devices; such devices are real, not virtual. */
  readonly deviceFarmMarkers?: readonly string[];
  /** The environment variables of the iOS Simulator are set. Only on ios. */
  readonly simulatorEnvironmentPresent?: boolean;
  /** Instruction set this process or device prefers; x86 is no proof of an emulator. Only on android. */
  readonly abi?: string;
  /** Sensors that SensorManager lists. Unit: count. Only on android. */
  readonly sensorCount?: number;
  /** SensorManager has an accelerometer; false means that the SDK looked and found none. Only on android. */
  readonly hasAccelerometer?: boolean;
  /** SensorManager has a gyroscope; false means that the SDK looked and found none, as on many plain phones. Only on android. */
  readonly hasGyroscope?: boolean;
  /** SensorManager has a magnetic field sensor; false means that the SDK looked and found none. Only on android. */
  readonly hasMagnetometer?: boolean;
  /** SensorManager has a proximity sensor; false means that the SDK looked and found none, as on most tablets. Only on android. */
  readonly hasProximitySensor?: boolean;
  /** Executable memory without a file on disk, by permissions and name (if any) in /proc/self/maps: the first 64 different texts, each cut to 128 characters; absent if the map was not read to its end. No finding: ART's JIT (`jit-cache`, `jit-zygote-cache`, `dalvik-jit-code-cache`), WebView and drivers have such memory on ordinary devices. Only on android. */
  readonly executableMemoryMappings?: readonly string[];
}

export interface OsIntegrityFridaScanData {
  /** The scan was run; false means that it was not, and then no other field is present. */
  readonly scanPerformed: boolean;
  /** The loopback port that was tried. Unit: port. Only on android. */
  readonly scannedPort?: number;
  /** The port accepted a connection; false means that it did not. Any program may listen there, not only Frida. Only on android. */
  readonly defaultPortOpen?: boolean;
  /** The listener rejected the handshake as a Frida server does; false means it did not. Only on android. */
  readonly fridaHandshakeReject?: boolean;
}

export interface OsIntegrityForkTestData {
  /** The test was run; false means that it was not, and then no other field is present. */
  readonly testPerformed: boolean;
  /** fork() returned a child. On a stock iPhone the sandbox denies it. Only on ios. */
  readonly forkSucceeded?: boolean;
}

export interface NetworkData {
  /** The OS reports a usable network; says nothing about reaching any particular server. */
  readonly isConnected?: boolean;
  /** Kind of link the active network uses, such as Wi-Fi or cellular. */
  readonly connectionType?: string;
  /** All transports of the active network (NetworkCapabilities.hasTransport); a VPN lists its carriers too. Only on android. */
  readonly networkTransportTypes?: readonly string[];
  /** ConnectivityManager.isActiveNetworkMetered: data use counts against a limit or costs money. Only on android. */
  readonly isMetered?: boolean;
  /** NET_CAPABILITY_VALIDATED: the system itself has reached the internet over this network. Only on android. */
  readonly isInternetValidated?: boolean;
  /** NET_CAPABILITY_CAPTIVE_PORTAL: a sign-in page must be passed before the internet is reachable. Only on android. */
  readonly hasCaptivePortal?: boolean;
  /** NetworkCapabilities.getLinkDownstreamBandwidthKbps: the system's estimate, not a measurement. Unit: kbps. Only on android. */
  readonly linkDownstreamKbps?: number;
  /** NetworkCapabilities.getLinkUpstreamBandwidthKbps: the system's estimate, not a measurement. Unit: kbps. Only on android. */
  readonly linkUpstreamKbps?: number;
  /** LinkProperties.getMtu: largest packet of the active network; absent when the system states none. Unit: bytes. Only on android. */
  readonly activeNetworkMtu?: number;
  /** Traffic uses a VPN as far as the OS reports; a VPN on the router can't be seen. On Android without the permission it is concluded from the names of the interfaces that are up; a VPN of another profile counts then. */
  readonly isVpnActive?: boolean;
  /** An HTTP, PAC or SOCKS proxy is set for the active network; false means that the SDK looked and found none. */
  readonly isProxyConfigured?: boolean;
  /** Host of the configured proxy; absent when none is set. */
  readonly proxyHost?: string;
  /** Port of the configured proxy; absent when none is set. Unit: port. */
  readonly proxyPort?: number;
  /** LinkProperties.isPrivateDnsActive: names are looked up over an encrypted connection. Only on android. */
  readonly isPrivateDnsActive?: boolean;
  /** LinkProperties.getPrivateDnsServerName: the private DNS host set by hand; absent in automatic mode. Only on android. */
  readonly privateDnsServerName?: string;
  /** LinkProperties.getDnsServers: addresses of the DNS servers of the active network. Link-local ones and those made from a hardware address (EUI-64) are left out. Only on android. */
  readonly dnsServerAddresses?: readonly string[];
  /** Names of the network interfaces; a tunnel's name is no proof of a VPN (utun on iOS). */
  readonly interfaceNames?: readonly string[];
  /** Addresses of the device's own interfaces; not the address a server sees behind NAT. Link-local ones and those made from a hardware address (EUI-64) are left out. */
  readonly localIpAddresses?: readonly string[];
  /** Name of the joined Wi-Fi network. Never filled: needs location permission or an entitlement. Never filled by the SDK. */
  readonly wifiSsid?: string;
  /** Hardware address of the joined access point. Never filled: needs location permission or an entitlement. Never filled by the SDK. */
  readonly wifiBssid?: string;
  /** TrafficStats.getMobileRxBytes: received over mobile by all apps since boot. Unit: bytes. Only on android. */
  readonly mobileRxBytes?: number;
  /** TrafficStats.getMobileTxBytes: sent over mobile by all apps since boot. Unit: bytes. Only on android. */
  readonly mobileTxBytes?: number;
  /** Received since boot other than over mobile (TrafficStats total less mobile): mostly Wi-Fi. Unit: bytes. Only on android. */
  readonly wifiRxBytes?: number;
  /** Sent since boot other than over mobile (TrafficStats total less mobile): mostly Wi-Fi. Unit: bytes. Only on android. */
  readonly wifiTxBytes?: number;
  /** WifiInfo.getCurrentSecurityType: how the Wi-Fi that is the active network protects its link; absent on another network and in a VPN. `open` and `owe` need no password, as in many hotels; a phone's hotspot is `psk` or `sae`. Names and addresses of the network are not read. Only on android. */
  readonly wifiSecurityType?: string;
}

export interface TelephonyData {
  /** TelephonyManager.getPhoneType: radio family, such as GSM or CDMA, or none on devices without one. Only on android. */
  readonly phoneType?: string;
  /** SIMs or cellular plans in use, as the platform counts them; cards and eSIMs are not distinguished. Unit: count. */
  readonly simCount?: number;
  /** TelephonyManager.getSimState: whether the SIM is absent, locked, ready and the like. Only on android. */
  readonly simState?: string;
  /** TelephonyManager.hasIccCard: a SIM card is present; false means that the SDK looked and found none. Only on android. */
  readonly hasIccCard?: boolean;
  /** TelephonyManager.getSimOperatorName: operator that issued the SIM; empty or absent without a SIM. Only on android. */
  readonly simOperatorName?: string;
  /** TelephonyManager.getSimCountryIso: country of the operator that issued the SIM. Only on android. */
  readonly simCountryIso?: string;
  /** Name of the mobile operator; on Android that of the network in use, which differs from the SIM's abroad. */
  readonly networkOperatorName?: string;
  /** Country code of the mobile network as the platform reports it; not a position. */
  readonly networkCountryIso?: string;
  /** TelephonyManager.isNetworkRoaming: registered in a network that counts as roaming. Only on android. */
  readonly isNetworkRoaming?: boolean;
  /** TelephonyManager.getDataState: state of the mobile data connection; unconnected is usual while on Wi-Fi. Only on android. */
  readonly dataState?: string;
  /** CTCarrier.mobileCountryCode; Apple's placeholders (iOS 16 and later) are left out, never sent. Only on ios. */
  readonly carrierMobileCountryCode?: string;
  /** CTCarrier.mobileNetworkCode; Apple's placeholders (iOS 16 and later) are left out, never sent. Only on ios. */
  readonly carrierMobileNetworkCode?: string;
  /** CTCarrier.allowsVOIP: the operator allows internet calls; absent where Apple gives placeholders. Only on ios. */
  readonly carrierAllowsVoip?: boolean;
  /** Hardware number of the radio. Never filled: a persistent identifier, closed to ordinary apps. Never filled by the SDK. */
  readonly imei?: string;
}

export interface LocaleData {
  /** Language code of the current locale. */
  readonly language?: string;
  /** Preferred languages, the first choice first. */
  readonly languages?: readonly string[];
  /** Languages of the enabled keyboards (InputMethodManager subtypes); not what is typed. Only on android. */
  readonly keyboardLanguages?: readonly string[];
  /** Region code of the current locale; a setting, not a position. */
  readonly country?: string;
  /** Name of the device's time zone in the IANA form, such as Europe/Paris. */
  readonly timezoneId?: string;
  /** Offset of local time from UTC now, daylight saving included; positive east of Greenwich. Unit: minutes. */
  readonly timezoneOffsetMinutes?: number;
  /** Times are shown by 24 hours; false means by 12 hours. */
  readonly uses24HourClock?: boolean;
  /** Calendar in use, such as `gregorian` or `buddhist` (NSCalendar identifier). Only on ios. */
  readonly calendar?: string;
  /** Day on which a week starts: 1 is Sunday, 7 is Saturday. Unit: index. */
  readonly firstDayOfWeek?: number;
  /** ISO 4217 code of the locale's currency. */
  readonly currencyCode?: string;
  /** Sign between whole number and fraction in the locale's number format. */
  readonly decimalSeparator?: string;
  /** Sign between groups of digits in the locale's number format. */
  readonly groupingSeparator?: string;
  /** Measurement system of the locale (NSLocale), such as metric. Only on ios. */
  readonly measurementSystem?: string;
}

export interface GeolocationData {
  /** What the app is allowed to learn of the location; Android does not distinguish a denial from a request that was never made. */
  readonly authorizationStatus?: string;
  /** The app may read at least an approximate location; false means not granted. */
  readonly hasCoarsePermission?: boolean;
  /** Location is switched on for the whole device, independent of this app's permission. */
  readonly locationServicesEnabled?: boolean;
  /** The device has satellite positioning hardware; false means that the SDK looked and found none. Only on android. */
  readonly gnssSupported?: boolean;
  /** Latitude of the last known position, north positive; coarse if only coarse is granted. Unit: degrees. */
  readonly latitude?: number;
  /** Longitude of the last known position, east positive; coarse if only coarse is granted. Unit: degrees. */
  readonly longitude?: number;
  /** Radius of horizontal uncertainty as the platform estimates it. Unit: m. */
  readonly accuracyMeters?: number;
  /** Altitude of the position; absent when the platform has none. Unit: m. */
  readonly altitudeMeters?: number;
  /** Age of the position when it was read; an old one says little about the present. Negative on iOS where the clock was set back. Unit: ms. */
  readonly locationAgeMs?: number;
  /** Location.getProvider: the source of the position, such as gps, network or fused. Only on android. */
  readonly provider?: string;
  /** Location.isMock (isFromMockProvider before API 31): the system marks the position as mocked. Only on android. */
  readonly isFromMockProvider?: boolean;
  /** CLLocationSourceInformation.isSimulatedBySoftware (iOS 15 and later): software made up the position. Only on ios. */
  readonly isSimulatedBySoftware?: boolean;
  /** CLLocationSourceInformation.isProducedByAccessory (iOS 15 and later): an accessory supplied it. Only on ios. */
  readonly isProducedByAccessory?: boolean;
  /** An app that can mock the location is installed. Never filled: would need to list all packages. Never filled by the SDK. */
  readonly mockLocationAppsFound?: boolean;
}

export interface MediaBluetoothAppsData {
  /** Current sound output: AudioManager.getAudioDevicesForAttributes on Android, AVAudioSession.currentRoute on iOS. */
  readonly audioOutputRoute?: string;
  /** AudioManager.isMusicActive: some app, this one included, plays music. Only on android. */
  readonly isMusicActive?: boolean;
  /** AVAudioSession.isOtherAudioPlaying: another app plays sound. Only on ios. */
  readonly isOtherAudioPlaying?: boolean;
  /** Paired Bluetooth devices (names and addresses are not read); needs the permission from API 31 on. Unit: count. Only on android. */
  readonly bluetoothBondedDeviceCount?: number;
  /** The screen is recorded or cast now: UIScreen.isCaptured on iOS; on Android 15 and later a recording that shows this app. */
  readonly isScreenCaptured?: boolean;
  /** The main screen is mirrored to another one; false means that the SDK looked and found none. Only on ios. */
  readonly isScreenMirrored?: boolean;
  /** Screens connected, the built-in one included. Unit: count. Only on ios. */
  readonly connectedScreenCount?: number;
  /** Connected screens that mirror another screen. Unit: count. Only on ios. */
  readonly mirroredScreenCount?: number;
  /** Displays that DisplayManager lists, the built-in one and visible virtual ones included. Unit: count. Only on android. */
  readonly displayCount?: number;
  /** Displays that DisplayManager lists as fit for presentations, such as external ones. Unit: count. Only on android. */
  readonly presentationDisplayCount?: number;
  /** Assistive technology is on: AccessibilityManager.isEnabled on Android, VoiceOver or its like on iOS. */
  readonly accessibilityRunning?: boolean;
  /** Enabled accessibility services; most serve people who need them. Absent if unreadable. Only on android. */
  readonly enabledAccessibilityServices?: readonly string[];
  /** Accessibility settings that are on, of the ones that `UIAccessibility` reports. Only on ios. */
  readonly accessibilityFeatures?: readonly string[];
  /** Apps of a fixed list, declared in the manifest's queries, that are installed; no other is looked for. Only on android. */
  readonly installedFlaggedApps?: readonly string[];
  /** Listed URL schemes some app can open; absent unless declared in LSApplicationQueriesSchemes. Only on ios. */
  readonly openableFlaggedSchemes?: readonly string[];
}

export interface GpuBenchmarkData {
  /** The drawing run took place; false means that it did not, and skippedReason may say why. */
  readonly benchmarkPerformed: boolean;
  /** Why the run did not take place; absent when it did. */
  readonly skippedReason?: string;
  /** Name of the graphics processor: GL_RENDERER on Android, MTLDevice.name on iOS. */
  readonly rendererName?: string;
  /** GL_VENDOR: maker of the graphics driver. Only on android. */
  readonly vendorName?: string;
  /** GL_VERSION: version of OpenGL ES and of the driver. Only on android. */
  readonly apiVersion?: string;
  /** GL_SHADING_LANGUAGE_VERSION: version of the shader language. Only on android. */
  readonly shadingLanguageVersion?: string;
  /** GL_MAX_TEXTURE_SIZE: longest side a texture may have. Unit: px. Only on android. */
  readonly maxTextureSize?: number;
  /** Draw calls that were finished within the run's bounds. Unit: count. */
  readonly drawCallsCompleted?: number;
  /** Duration of the whole run, measured outside the graphics processor. Unit: ms. */
  readonly durationMs?: number;
  /** Time the graphics processor itself was busy, by Metal's command buffer times. Unit: ms. Only on ios. */
  readonly gpuTimeMs?: number;
  /** Median time of one operation. Unit: ms. */
  readonly operationTimeP50Ms?: number;
  /** 95th percentile of the time of one operation. Unit: ms. */
  readonly operationTimeP95Ms?: number;
  /** Median absolute deviation of the operation times. Unit: ms. */
  readonly operationTimeMadMs?: number;
  /** Standard deviation of the operation times divided by their mean. Unit: ratio. */
  readonly operationTimeCoefficientOfVariation?: number;
  /** Relative trend of operation times over the run; positive means later operations took longer. Unit: ratio. */
  readonly warmupSlope?: number;
}

export interface AudioLatencyData {
  /** The audio path was examined; false means that it was not, and then no other field is present. */
  readonly measured: boolean;
  /** Delay of the output. iOS: AVAudioSession.outputLatency, which depends on the route. Android: how long one native buffer plays (framesPerBuffer over nativeSampleRate), which is the least that the delay can be. Unit: ms. */
  readonly outputLatencyMs?: number;
  /** AVAudioSession.inputLatency: stated delay from microphone to app. Unit: ms. Only on ios. */
  readonly inputLatencyMs?: number;
  /** AVAudioSession.IOBufferDuration: length of the current audio buffer. Unit: ms. Only on ios. */
  readonly ioBufferDurationMs?: number;
  /** AudioManager.PROPERTY_OUTPUT_FRAMES_PER_BUFFER: frames in the native output buffer. Unit: count. Only on android. */
  readonly framesPerBuffer?: number;
  /** Sample rate of the output: AudioManager.PROPERTY_OUTPUT_SAMPLE_RATE or AVAudioSession.sampleRate. Unit: Hz. */
  readonly nativeSampleRate?: number;
}

export interface ApplicationData {
  /** Package name on Android, bundle identifier on iOS. */
  readonly bundleId?: string;
  /** Label of the app as users see it. Only on android. */
  readonly appName?: string;
  /** Version shown to users: versionName on Android, CFBundleShortVersionString on iOS. */
  readonly appVersion?: string;
  /** Build number: version code on Android, CFBundleVersion on iOS. */
  readonly appBuild?: string;
  /** CFBundleExecutable: name of the main executable. Only on ios. */
  readonly bundleExecutable?: string;
  /** MinimumOSVersion of the bundle: lowest iOS the app accepts. Only on ios. */
  readonly minimumOsVersion?: string;
  /** ApplicationInfo.targetSdkVersion: API level the app is written for. Unit: API level. Only on android. */
  readonly targetSdkVersion?: number;
  /** ApplicationInfo.minSdkVersion: lowest API level the app accepts. Unit: API level. Only on android. */
  readonly minSdkVersion?: number;
  /** The build is meant for debugging (ApplicationInfo.FLAG_DEBUGGABLE on Android); not that a debugger is attached. */
  readonly isDebuggable?: boolean;
  /** The app was compiled for the iOS Simulator. Only on ios. */
  readonly isSimulatorBuild?: boolean;
  /** The code runs in an app extension, not in the app itself. Only on ios. */
  readonly isAppExtension?: boolean;
  /** PackageManager.isInstantApp: the app runs without being installed. Only on android. */
  readonly isInstantApp?: boolean;
  /** ApplicationInfo.FLAG_SYSTEM: the app is part of the system image. Only on android. */
  readonly isSystemApp?: boolean;
  /** ApplicationInfo.FLAG_UPDATED_SYSTEM_APP: an update of an app of the system image. Only on android. */
  readonly isUpdatedSystemApp?: boolean;
  /** ApplicationInfo.FLAG_EXTERNAL_STORAGE: the app is installed on external storage. Only on android. */
  readonly isInstalledOnExternalStorage?: boolean;
  /** The app is installed as several APKs, as from an app bundle; false means one APK. Only on android. */
  readonly isSplitApks?: boolean;
  /** Names of the installed splits; they reflect the device's languages and screen. Only on android. */
  readonly splitNames?: readonly string[];
  /** SHA-256 of the certificates that sign the installed app now, one per signer. Only on android. */
  readonly signingCertificateSha256?: readonly string[];
  /** SHA-256 of the app's present and past signing certificates (SigningInfo history). Only on android. */
  readonly signingCertificateHistorySha256?: readonly string[];
  /** SigningInfo.hasMultipleSigners: several signers at once, not a rotated key. Only on android. */
  readonly hasMultipleSigners?: boolean;
  /** The bundle holds a provisioning profile; App Store installs hold none. Only on ios. */
  readonly embeddedProvisioningProfilePresent?: boolean;
  /** The entitlement get-task-allow is set. Never filled: no public API reports it. Never filled by the SDK. */
  readonly getTaskAllowEntitlement?: boolean;
  /** Installer of record, as PackageManager reports it; absent when the system knows none. Only on android. */
  readonly installerPackage?: string;
  /** InstallSourceInfo.getInstallingPackageName (API 30 and later): package that performed the install. Only on android. */
  readonly installingPackageName?: string;
  /** InstallSourceInfo.getInitiatingPackageName (API 30 and later): package that requested the install. Only on android. */
  readonly initiatingPackageName?: string;
  /** SHA-256 of the certificates of the package that requested the install. Only on android. */
  readonly initiatingPackageSigningCertificateSha256?: readonly string[];
  /** InstallSourceInfo.getPackageSource (API 33 and later), such as store or local file; the installer states it. Only on android. */
  readonly installPackageSource?: string;
  /** InstallSourceInfo.getUpdateOwnerPackageName (API 34 and later): package that owns updates. Only on android. */
  readonly updateOwnerPackageName?: string;
  /** PackageInfo.firstInstallTime: when the app was first installed. Unit: epoch ms. Only on android. */
  readonly firstInstallTimeMs?: number;
  /** PackageInfo.lastUpdateTime: when the app was last updated; equal to the install time if never. Unit: epoch ms. Only on android. */
  readonly lastUpdateTimeMs?: number;
  /** A store receipt exists where the bundle says; false is normal for builds that never came from the store. Only on ios. */
  readonly receiptPresent?: boolean;
  /** Production or sandbox, by the location of the receipt; its contents are not verified. Only on ios. */
  readonly receiptEnvironment?: string;
  /** The app was in the foreground when the event was collected. Only on android. */
  readonly isForeground?: boolean;
  /** Time since this app's process was started. Unit: ms. Only on android. */
  readonly processUptimeMs?: number;
  /** Permissions this app requests and holds now; one that is missing was not granted. Only on android. */
  readonly grantedPermissions?: readonly string[];
  /** Number of the Android user in which the app runs (uid / 100000), not of a person: 0 for the first user; another one for a second user, a work profile, a private space or the clone that a maker's dual-app feature runs, and for everybody on a system whose user 0 has no screen (10 then). Unit: none. Only on android. */
  readonly androidUserId?: number;
  /** ApplicationInfo.dataDir is the folder that the system makes for this app and this user. False as a rule means that another app runs this one inside itself; a tool that hides itself reports the ordinary folder. The path is not sent, because it can name other apps. Only on android. */
  readonly isDataFolderOwn?: boolean;
  /** A trace of LiveContainer, which loads an app into its own process without installing it: its variables, or an image from its folder of apps. False means that both were examined; a tool that hides its traces is not seen. On Android see isDataFolderOwn. Only on ios. */
  readonly runsInsideAnotherApp?: boolean;
  /** The folder that contains the app's bundle has the file with which TrollStore (iOS 14 to 17.0) marks an app that it installed: the app did not come from the store and can hold any entitlement. False means that the SDK looked and found none. Only on ios. */
  readonly trollStoreMarkFound?: boolean;
}

export interface DeviceSecurityPostureData {
  /** A PIN, pattern, password or passcode is set; KeyguardManager.isDeviceSecure on Android. */
  readonly hasSecureLockScreen?: boolean;
  /** KeyguardManager.isDeviceLocked: unlocking now takes a credential. Only on android. */
  readonly isDeviceLocked?: boolean;
  /** UserManager.isUserUnlocked: unlocked at least once since boot, so that private storage is open. Only on android. */
  readonly isUserUnlocked?: boolean;
  /** UIApplication.isProtectedDataAvailable: protected files can be read now, as a rule while unlocked. Only on ios. */
  readonly protectedDataAvailable?: boolean;
  /** Biometrics can be used now: hardware present and enrolled. False may mean either is missing; on Android without the permission false means that no hardware is declared, and true does not occur. */
  readonly biometryAvailable?: boolean;
  /** Kind of biometrics the device offers; on iOS by LAContext.biometryType: fingerprint is Touch ID, face is Face ID, iris is Optic ID. Says nothing about enrolment. */
  readonly biometryType?: string;
  /** The system declares a fingerprint reader (PackageManager.FEATURE_FINGERPRINT); not that one is enrolled. Only on android. */
  readonly fingerprintHardwarePresent?: boolean;
  /** The system declares face authentication (PackageManager.FEATURE_FACE); not that a face is enrolled. Only on android. */
  readonly faceHardwarePresent?: boolean;
  /** The system declares a StrongBox key store (PackageManager.FEATURE_STRONGBOX_KEYSTORE). Only on android. */
  readonly strongBoxAvailable?: boolean;
  /** Build.VERSION.SECURITY_PATCH: date of the patch level the system declares. Only on android. */
  readonly securityPatch?: string;
  /** Settings.Global.AUTO_TIME: the clock is set from the network; false means set by hand. Only on android. */
  readonly automaticTimeEnabled?: boolean;
  /** Settings.Global.AUTO_TIME_ZONE: the time zone is set from the network; false means set by hand. Only on android. */
  readonly automaticTimeZoneEnabled?: boolean;
  /** Settings.Global.DEVICE_PROVISIONED: first set-up was completed; says nothing about management. Only on android. */
  readonly deviceProvisioned?: boolean;
  /** Certificate authorities in the store of this Android user, which the person, an employer or a school added. Filters of advertisements and tools of developers add one, too. An app trusts them only if its network security configuration says so; a modified system can have them among its own, which are not counted. Unit: count. Only on android. */
  readonly userCertificateAuthorityCount?: number;
  /** The device's clock minus the time that the system last got from the network (SystemClock.currentNetworkTimeClock): above 0 the device is ahead. Absent if the system has no such time. A person can set the clock by hand, and both can be wrong: the network's answer may be unprotected. Unit: ms. Only on android. */
  readonly networkTimeOffsetMs?: number;
}

export interface TransactionSafetyData {
  /** When the observation began, on the clock that counts from boot (SystemClock.elapsedRealtime). Unit: ms. Only on android. */
  readonly transactionObservationStartedElapsedMs?: number;
  /** The device is awake and in use: PowerManager.isInteractive on Android; on iOS the app is active, and false never occurs. */
  readonly isInteractive?: boolean;
  /** KeyguardManager.isDeviceLocked: unlocking now takes a credential. Only on android. */
  readonly isDeviceLocked?: boolean;
  /** The screen is recorded or cast now: UIScreen.isCaptured on iOS; on Android 15 and later a recording that shows this app. */
  readonly isScreenCaptured?: boolean;
  /** The main screen is mirrored to another one; false means that the SDK looked and found none. Only on ios. */
  readonly isScreenMirrored?: boolean;
  /** A screen recording shows this app (WindowManager screen recording callback, Android 15 and later). Only on android. */
  readonly isVisibleInScreenRecording?: boolean;
  /** Screenshots are being watched for (Android 14 and later); while false, the absence of screenshots has no meaning. Only on android. */
  readonly screenshotObservationActive?: boolean;
  /** A screenshot of the app was noticed since the start; false means that the SDK watched and noticed none. Only on android. */
  readonly screenshotDetectedSinceObservationStart?: boolean;
  /** When the last screenshot was noticed, on the clock that counts from boot; absent if none was. Unit: ms. Only on android. */
  readonly lastScreenshotDetectedElapsedMs?: number;
  /** Touches that were examined since the start; with 0 the fields on obscured touches have no meaning. Unit: count. Only on android. */
  readonly observedTouchCount?: number;
  /** A touch on the activity's own window came with FLAG_WINDOW_IS_OBSCURED: another window covered the touched spot. The probe does not look at the separate windows of modal views. Only on android. */
  readonly obscuredTouchObserved?: boolean;
  /** When the last such touch came, on the clock that counts from boot; absent if none did. Unit: ms. Only on android. */
  readonly lastObscuredTouchElapsedMs?: number;
  /** A touch came with FLAG_WINDOW_IS_PARTIALLY_OBSCURED: the window was covered elsewhere than at the spot. Only on android. */
  readonly partiallyObscuredTouchObserved?: boolean;
  /** When the last such touch came, on the clock that counts from boot; absent if none did. Unit: ms. Only on android. */
  readonly lastPartiallyObscuredTouchElapsedMs?: number;
  /** A telephone or internet call appears to be going on; with whom is not known. iOS: `CXCallObserver` lists a call that has not ended, so a call that rings counts; absent if the process has not loaded CallKit, which the app decides. */
  readonly isCallActive?: boolean;
  /** AudioManager.getMode: normal, ringing, in call or in communication. Only on android. */
  readonly audioMode?: string;
  /** Assistive technology is on: AccessibilityManager.isEnabled on Android, VoiceOver or its like on iOS. */
  readonly accessibilityRunning?: boolean;
  /** Enabled accessibility services; absent when the setting can't be read. Unit: count. Only on android. */
  readonly enabledAccessibilityServiceCount?: number;
  /** Accessibility settings that are on, of the ones that `UIAccessibility` reports. Unit: count. Only on ios. */
  readonly accessibilityFeatureCount?: number;
  /** Remote access apps of a fixed list that are installed; not that one of them is in use. Only on android. */
  readonly remoteAccessAppsFound?: readonly string[];
  /** How many remote access apps of that list are installed. Unit: count. Only on android. */
  readonly remoteAccessAppCount?: number;
  /** Of the examined touches, those whose event names no physical input device (InputEvent.getDeviceId is 0, or below 0: InputDevice.isVirtual). Software made them: the gesture of an accessibility service, which a person may need, remote control, a test or `adb`. A tool that makes an input device of its own is not counted, and systems before Android 12 may keep the device that the tool names. Unit: count. Only on android. */
  readonly virtualDeviceTouchCount?: number;
}

export interface RuntimeData {
  /** JavaScript engine that was recognised, such as hermes. */
  readonly jsEngine?: string;
  /** The engine is Hermes, by its global HermesInternal. */
  readonly isHermes?: boolean;
  /** Version of Hermes as it reports it; absent on other engines. */
  readonly hermesVersion?: string;
  /** Version of React Native, from the constants of its Platform module. */
  readonly reactNativeVersion?: string;
  /** Platform.OS as React Native reports it. */
  readonly platformOs?: string;
  /** The Fabric renderer is in use. */
  readonly isFabric?: boolean;
  /** Native modules are reached as TurboModules. */
  readonly isTurboModule?: boolean;
  /** React Native runs without the old bridge. */
  readonly isBridgeless?: boolean;
  /** The JavaScript was bundled for development (__DEV__); not whether the native app is debuggable. */
  readonly isDebugBuild?: boolean;
}

export interface RuntimeTimingData {
  /** The clock the JavaScript samples were taken with: performance.now() or Date.now(). */
  readonly jsClockSource?: string;
  /** Samples taken to find the resolution of the JavaScript clock. Unit: count. */
  readonly jsTimerSampleCount?: number;
  /** Smallest step above zero seen on the JavaScript clock. Unit: ms. */
  readonly jsTimerResolutionMs?: number;
  /** Samples taken of the delay of the event loop. Unit: count. */
  readonly eventLoopSampleCount?: number;
  /** Median delay of the event loop. Unit: ms. */
  readonly eventLoopP50Ms?: number;
  /** 95th percentile of the delay of the event loop. Unit: ms. */
  readonly eventLoopP95Ms?: number;
  /** Median absolute deviation of the delay of the event loop. Unit: ms. */
  readonly eventLoopMadMs?: number;
  /** Time of a call from JavaScript to native code and back. Unit: ms. */
  readonly bridgeRoundTripMs?: number;
  /** The monotonic clock the native samples were taken with: System.nanoTime on Android, std::chrono::steady_clock on iOS. */
  readonly nativeClockSource?: string;
  /** Samples taken of the native clock. Unit: count. */
  readonly nativeSampleCount?: number;
  /** Smallest step above zero seen on the native clock. Unit: ns. */
  readonly nativeTimerResolutionNs?: number;
  /** Median interval between consecutive native samples. Unit: ns. */
  readonly nativeIntervalMedianNs?: number;
  /** 95th percentile of the interval between consecutive native samples. Unit: ns. */
  readonly nativeIntervalP95Ns?: number;
  /** Median absolute deviation of the interval between consecutive native samples. Unit: ns. */
  readonly nativeIntervalMadNs?: number;
}

export interface NumericConsistencyData {
  /** All results of the fixed integer calculations are the expected ones. */
  readonly integerVectorMatches?: boolean;
  /** Integer calculations whose result is not the expected one. Unit: count. */
  readonly integerMismatchCount?: number;
  /** Floating-point calculations that were compared. Unit: count. */
  readonly floatSampleCount?: number;
  /** Floating-point calculations whose result differs from the expected one; correct maths libraries may give different results. Unit: count. */
  readonly floatMismatchCount?: number;
  /** Largest absolute difference among the floating-point results; 0 means that all agree. Unit: none. */
  readonly floatMaxAbsoluteDifference?: number;
  /** Negative zero keeps its sign; false means that it was lost. */
  readonly signedZeroPreserved?: boolean;
  /** Subnormal numbers keep their value; false means that they were flushed to zero. */
  readonly subnormalPreserved?: boolean;
}
