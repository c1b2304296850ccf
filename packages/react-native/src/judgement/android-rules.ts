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
 * The rules that guard against known false alarms, as data: a test loosens or leaves out one at a time, and sees a false
 * alarm come back.
 */
export const ANDROID_RULES = {
  library: HOOK_LIBRARY,
  zygote: ZYGOTE_INJECTOR_LIBRARY,
  frame: HOOK_FRAME,
  frida: FRIDA_THREAD,
  glib: GLIB_THREAD,
  pipe: INJECTOR_PIPE,
  /**
   * Places where neither an app nor the system keeps code, and memory without a file. A deleted file belonged to an
   * app.
   */
  foreign: /^\/(memfd:|(data\/(local|adb)|dev|debug_ramdisk|sbin)\/)/,
  /** Foreign memory that may be executed, and who put it there. Memory that only imitates the name of ART's is not explained. */
  explained: [
    // ART's compiler keeps its code in memory: memfd from Android 10 on, ashmem before (AOSP, art/runtime/jit).
    /^\/memfd:jit-(zygote-)?cache( \(deleted\))?$/,
    /^\/dev\/(ashmem|kgsl|mali|dri\/|pvr|nv|dma_heap|ion|zero)/,
    // Nameless memory of drivers and WebView, unless a hook's name is on it.
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
