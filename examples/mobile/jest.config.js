/** The contract is ESM only; React Native and Expo publish their sources as they wrote them. */
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
  // The first test loads React Native, and compiles it when the cache is empty.
  testTimeout: 60_000,
  transformIgnorePatterns: [`node_modules/(?!(${TRANSFORMED.join("|")})/)`],
};
