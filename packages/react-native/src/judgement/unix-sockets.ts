/** Matches an abstract name in `/proc/net/unix`, in which the kernel writes the leading zero byte as `@`. */
export const ABSTRACT_NAME = / @(.*)/;
