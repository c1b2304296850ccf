/** An abstract name of `/proc/net/unix`; the kernel writes its leading zero byte as `@`. */
export const ABSTRACT_NAME = / @(.*)/;
