/**
 * The listed names, divided into existing and absent ones. A name that could not be examined (denied, not declared,
 * failed) is in neither list: unknown is not false.
 */
export interface Presence {
  readonly present: readonly string[];
  readonly absent: readonly string[];
}

/** A text file of the system, cut at the reader's bound. */
export interface Text {
  readonly text: string;
  readonly truncated: boolean;
}

/** Proxy settings of iOS, as far as CFNetwork has them. */
export interface ProxySettings {
  readonly httpEnabled?: boolean;
  readonly httpHost?: string;
  readonly httpPort?: number;
  readonly socksEnabled?: boolean;
  readonly socksHost?: string;
  readonly socksPort?: number;
  readonly pacEnabled?: boolean;
  /** Host of the automatic configuration's URL: the rest of a URL may hold secrets. */
  readonly pacHost?: string;
  /** Names of the interfaces that have settings of their own (`__SCOPED__`). */
  readonly scopedInterfaces?: readonly string[];
}

/** The results that native code calculated from the inputs of `numbers`. */
export interface Calculated {
  /** `count` results of `x = (x * 1664525 + 1013904223) mod 2^32`, from `seed`. */
  readonly integers: readonly number[];
  /** Five results for each input in turn: sine, cosine, exponential, natural logarithm, square root. */
  readonly floats: readonly number[];
  /** `-0`, as it came out of native code. */
  readonly negativeZero: number;
  /** The smallest subnormal double, 2^-1074. */
  readonly subnormal: number;
}

/**
 * Sources that may be requested in addition to fields, each with its argument: `true`, or the list of names to look
 * for.
 */
export interface Sources {
  /** `/proc/self/maps`, `mountinfo`, `status`, `/proc/cpuinfo`, `/proc/net/unix`, `/proc/net/tcp` with `tcp6`. Android. */
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
  /** System properties: name to value, `""` where not set; a denied one is left out. Android. */
  readonly properties: readonly string[];
  /** Packages. On API 30 and later a package that is not seen counts as absent only if its query was declared. Android. */
  readonly packages: readonly string[];
  /**
   * Names of executables, looked for in each folder of PATH. Present are full paths; absent are the names for which
   * every folder was examined and none has it. Android.
   */
  readonly executables: readonly string[];
  /** Paths that exist (`access`, `F_OK`). */
  readonly paths: readonly string[];
  /** Classes that can be loaded, without initialising them. */
  readonly classes: readonly string[];
  /** Environment variables that are set. */
  readonly environment: readonly string[];
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

/** The sources that native code read; a source that could not be read is absent. Evidence is never sent unchanged. */
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
  readonly writablePaths?: Presence;
  readonly links?: Presence;
  readonly schemes?: Presence;
  readonly ports?: Presence;
  readonly images?: readonly string[];
  readonly parentPid?: number;
  /** Shaped as `ProxySettings` as far as the judgement of `network` finds it so. */
  readonly proxies?: Readonly<Record<string, unknown>>;
  readonly numbers?: Calculated;
}

export interface NativeRequest {
  /** Catalog names of the fields that native code reads by itself. It reads requested ones only. */
  readonly fields: readonly string[];
  readonly sources: Partial<Sources>;
  /** Milliseconds after which the caller stops waiting: native work stops by itself. */
  readonly timeoutMs: number;
}

/** `unavailable`: no value was read, because OS version or hardware lack it, or the host lacks a permission. */
export interface NativeAnswer {
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly evidence?: Evidence;
  readonly unavailable?: "unsupported" | "permission";
}

/** The native half, as the collection sees it. What it answers is not trusted to have these shapes. */
export interface Native {
  collect(call: string, probe: string, request: NativeRequest): Promise<unknown>;
  /** Stops the call of this name; its promise may resolve, reject, or stay pending. */
  cancel(call: string): void;
  startObservation(): Promise<unknown>;
  stopObservation(): void;
  echo(value: number): Promise<unknown>;
}
