/**
 * Packages that Jest must transform: the contract is ESM only, and React Native and Expo publish untransformed sources.
 */
const TRANSFORMED = [
  "(jest-)?react-native",
  "@react-native",
  "expo",
  "expo-.*",
  "@expo",
  "@device-risk-signals/contract",
];

module.exports = {
  preset: "@react-native/jest-preset",
  setupFiles: ["./jest.setup.js"],
  // The first test loads React Native, which is compiled if the cache is empty.
  testTimeout: 240_000,
  transformIgnorePatterns: [`node_modules/(?!(${TRANSFORMED.join("|")})/)`],
};
