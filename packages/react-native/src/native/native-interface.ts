/**
 * The requested names, divided into existing and absent ones. A name that could not be examined (access denied, not
 * declared, read failed) is in neither list, because unknown does not mean false.
 */
export interface Presence {
  readonly present: readonly string[];
  readonly absent: readonly string[];
}

/** The content of a text file of the system, truncated if it is longer than the reader's limit. */
export interface Text {
  readonly text: string;
  readonly truncated: boolean;
}

/** Proxy settings of iOS. A setting that CFNetwork does not have is left out. */
export interface ProxySettings {
  readonly httpEnabled?: boolean;
  readonly httpHost?: string;
  readonly httpPort?: number;
  readonly socksEnabled?: boolean;
  readonly socksHost?: string;
  readonly socksPort?: number;
  readonly pacEnabled?: boolean;
  /** The host of the URL for automatic configuration. The rest of the URL may contain secrets, so it is dropped. */
  readonly pacHost?: string;
  /** Names of the interfaces that have separate settings (`__SCOPED__`). */
  readonly scopedInterfaces?: readonly string[];
}

/**
 * The results of the calculations of `numbers`: `integers` from its `seed` and `count`, `floats` from its `inputs`.
 * `negativeZero` and `subnormal` need no input.
 */
export interface Calculated {
  /** `count` results of `x = (x * 1664525 + 1013904223) mod 2^32`, from `seed`. */
  readonly integers: readonly number[];
  /** Five results for each input: sine, cosine, exponential, natural logarithm, square root. */
  readonly floats: readonly number[];
  /** `-0`, as native code returned it. */
  readonly negativeZero: number;
  /** The smallest subnormal double, 2^-1074. */
  readonly subnormal: number;
}

/**
 * Sources that a request may name in addition to fields, each with its argument: `true`, a list of names to look for,
 * or the inputs of `numbers`.
 */
export interface Sources {
  /**
   * `/proc/self/maps`, `/proc/self/mountinfo`, `/proc/self/status`, `/proc/cpuinfo`, `/proc/net/unix`, and
   * `/proc/net/tcp` together with `/proc/net/tcp6`. Android.
   */
  readonly maps: true;
  readonly mountInfo: true;
  readonly status: true;
  readonly cpuInfo: true;
  readonly unixSockets: true;
  readonly tcpSockets: true;
  /** Names of this process's threads (`/proc/self/task/<id>/comm`). Android. */
  readonly threads: true;
  /** Targets of this process's descriptors (`/proc/self/fd/<n>`). Android. */
  readonly descriptors: true;
  /** Class and method (`a.b.C.method`) of each frame of a stack trace taken in native code. Android. */
  readonly stack: true;
  /** `android.os.Build`. Android. */
  readonly build: true;
  /**
   * System properties: name to value, `""` if it is not set. A property that this app may not read is left out.
   * Android.
   */
  readonly properties: readonly string[];
  /**
   * Packages. On API 30 and later, a package that the app does not see counts as absent only if its query was declared.
   * Android.
   */
  readonly packages: readonly string[];
  /**
   * Names of executables to look for in each folder of PATH. `present` has full paths. `absent` has the names that are
   * in none of the folders, if every folder was examined. Android.
   */
  readonly executables: readonly string[];
  /** Paths that exist (`access`, `F_OK`). */
  readonly paths: readonly string[];
  /** Classes that can be loaded, without initialising them. */
  readonly classes: readonly string[];
  /** Environment variables that are set. */
  readonly environment: readonly string[];
  /** Names of files in the folder that contains the app's bundle (`access`, `F_OK`). iOS. */
  readonly bundleFolder: readonly string[];
  /** Paths that may be written (`access`, `W_OK`). iOS. */
  readonly writablePaths: readonly string[];
  /** Paths that are symbolic links (`readlink`). iOS. */
  readonly links: readonly string[];
  /** URL schemes that can be opened; only those declared in `LSApplicationQueriesSchemes` are examined. iOS. */
  readonly schemes: readonly string[];
  /** Ports of the loopback interface that accept a connection, as decimal text. iOS. */
  readonly ports: readonly string[];
  /** Paths of the images that dyld has loaded. iOS. */
  readonly images: true;
  /** Process id of the parent. iOS. */
  readonly parentPid: true;
  /** CFNetwork's proxy settings. iOS. */
  readonly proxies: true;
  readonly numbers: { readonly seed: number; readonly count: number; readonly inputs: readonly number[] };
}

export type SourceId = keyof Sources;

/**
 * The sources that native code read. A source that could not be read is absent. No event contains evidence in this
 * form.
 */
export interface Evidence {
  readonly maps?: Text;
  readonly mountInfo?: Text;
  readonly status?: Text;
  readonly cpuInfo?: Text;
  readonly unixSockets?: Text;
  readonly tcpSockets?: Text;
  readonly threads?: readonly string[];
  readonly descriptors?: readonly string[];
  readonly stack?: readonly string[];
  readonly build?: Readonly<Record<string, string>>;
  readonly properties?: Readonly<Record<string, string>>;
  readonly packages?: Presence;
  readonly executables?: Presence;
  readonly paths?: Presence;
  readonly classes?: Presence;
  readonly environment?: Presence;
  readonly bundleFolder?: Presence;
  readonly writablePaths?: Presence;
  readonly links?: Presence;
  readonly schemes?: Presence;
  readonly ports?: Presence;
  readonly images?: readonly string[];
  readonly parentPid?: number;
  /** The judgement of `network` checks whether the members have the types of `ProxySettings`. */
  readonly proxies?: Readonly<Record<string, unknown>>;
  readonly numbers?: Calculated;
}

export interface NativeRequest {
  /** Catalog names of the fields that native code reads directly. It reads only requested fields. */
  readonly fields: readonly string[];
  readonly sources: Partial<Sources>;
  /** Milliseconds after which the caller stops waiting and native work stops by itself. */
  readonly timeoutMs: number;
}

/**
 * `unavailable` means that no value of the probe was read, because the OS version or the hardware does not provide any,
 * or because the host app lacks a permission.
 */
export interface NativeAnswer {
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly evidence?: Evidence;
  readonly unavailable?: "unsupported" | "permission";
}

/** The native half as the collection sees it. The collection does not trust the answers to have these shapes. */
export interface Native {
  collect(call: string, probe: string, request: NativeRequest): Promise<unknown>;
  /** Stops the call with this name. The promise of the call may then resolve, reject, or stay pending. */
  cancel(call: string): void;
  startObservation(): Promise<unknown>;
  stopObservation(): void;
  echo(value: number): Promise<unknown>;
}
