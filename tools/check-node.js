// This file is plain JavaScript, so that its message also appears on a Node that is too old for our TypeScript.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 6)) {
  process.stderr.write(
    `Device Risk Signals needs Node 24.6 or later; this is ${process.version} (${process.execPath}).\n` +
      "`npm ci` of npm 11 or later installs a suitable Node for Linux, macOS and Windows (after an older one run `npm rebuild`): run it without --omit=optional, and start through npm or npx.\n",
  );
  process.exit(1);
}
