// Where Expo looks for a package's config plugin; it loads CommonJS, which the published package is.
module.exports = require("./lib/cjs/expo-plugin.js").withDeviceRiskSignals;
