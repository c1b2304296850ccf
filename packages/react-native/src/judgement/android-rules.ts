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
import { MAGISK_SOCKET, OF_MODULES } from "./root-artefacts.ts";

/**
 * The rules that prevent known false alarms, as data. A test loosens or removes one rule at a time, and expects a false
 * alarm.
 */
export const ANDROID_RULES = {
  library: HOOK_LIBRARY,
  zygote: ZYGOTE_INJECTOR_LIBRARY,
  frame: HOOK_FRAME,
  frida: FRIDA_THREAD,
  glib: GLIB_THREAD,
  pipe: INJECTOR_PIPE,
  /**
   * Places in which neither an app nor the system stores code, and memory without a file. Deleted files are not
   * among them, because they belonged to an app.
   */
  foreign: /^\/(memfd:|(data\/(local|adb)|dev|debug_ramdisk|sbin)\/)/,
  /**
   * Foreign memory that may be executed for a known reason, with the component that maps it. Memory whose name only
   * resembles a name of ART does not match.
   */
  explained: [
    // ART's compiler keeps compiled code in memory: in a memfd from Android 10 on, and in ashmem on earlier systems
    // (AOSP, art/runtime/jit).
    /^\/memfd:jit-(zygote-)?cache( \(deleted\))?$/,
    /^\/dev\/(ashmem|kgsl|mali|dri\/|pvr|nv|dma_heap|ion|zero)/,
    // Drivers and WebView use memory under any other name, unless the name is that of a hook.
    /^\/memfd:(?!jit-)/,
  ] as readonly RegExp[],
  overlay: OF_MODULES,
  socket: MAGISK_SOCKET,
  listener: LISTENER,
  su: /\/su$/,
  markers: STRONG_MARKERS,
  /** A single marker is no proof of an emulator. */
  minMarkers: 2,
};

export type AndroidRules = typeof ANDROID_RULES;
