import { STRONG_MARKERS } from "./android-emulator.ts";
import { LISTENER } from "./tcp-sockets.ts";
import {
  FRIDA_THREAD,
  GLIB_THREAD,
  HOOK_FRAME,
  HOOK_LIBRARY,
  INJECTOR_PIPE,
  ZYGOTE_INJECTOR_LIBRARY,
} from "./hook-artefacts.ts";
import { FOLDER_OF_MAKER, MAGISK_SOCKET, ROOT_OVERLAY } from "./root-artefacts.ts";

/**
 * The rules that prevent known false alarms. They are data, so that a test can loosen or remove one rule at a time and
 * check that its false alarm occurs.
 */
export const ANDROID_RULES = {
  library: HOOK_LIBRARY,
  zygote: ZYGOTE_INJECTOR_LIBRARY,
  frame: HOOK_FRAME,
  frida: FRIDA_THREAD,
  glib: GLIB_THREAD,
  pipe: INJECTOR_PIPE,
  /**
   * Matches memory without a file, and paths at which neither apps nor the system store code. A deleted file at another
   * path does not match, because it belonged to an app.
   */
  foreign: /^\/(memfd:|(data\/(local|adb)|dev|debug_ramdisk|sbin)\/)/,
  /**
   * Foreign mappings that ART, drivers and WebView make executable on ordinary phones. A name that only resembles one
   * of ART's names does not match.
   */
  explained: [
    // ART's compiler keeps compiled code in memory: in a memfd from Android 10 on, and in ashmem on earlier systems
    // (AOSP, art/runtime/jit).
    /^\/memfd:jit-(zygote-)?cache( \(deleted\))?$/,
    /^\/dev\/(ashmem|kgsl|mali|dri\/|pvr|nv|dma_heap|ion|zero)/,
    // Drivers and WebView choose arbitrary names for their memory. The name of a hook's library is never explained.
    /^\/memfd:(?!jit-)/,
  ] as readonly RegExp[],
  overlay: ROOT_OVERLAY,
  maker: FOLDER_OF_MAKER,
  socket: MAGISK_SOCKET,
  listener: LISTENER,
  su: /\/su$/,
  markers: STRONG_MARKERS,
  /** A single marker is no proof of an emulator. */
  minMarkers: 2,
};

export type AndroidRules = typeof ANDROID_RULES;
