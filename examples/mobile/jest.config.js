/** The contract is ESM alone; React Native and Expo publish their sources as they wrote them. */
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
  // The first test loads React Native, and compiles it where nothing is cached.
  testTimeout: 60_000,
  transformIgnorePatterns: [`node_modules/(?!(${TRANSFORMED.join("|")})/)`],
};
