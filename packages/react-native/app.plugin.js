// Expo looks for a package's config plugin in this file. Expo loads it as CommonJS; the published package is CommonJS,
// too.
module.exports = require("./lib/cjs/expo-plugin.js").withDeviceRiskSignals;
