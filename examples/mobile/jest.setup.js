jest.mock("@device-risk-signals/react-native", () => require("@device-risk-signals/react-native/jest"));
jest.mock("expo-crypto", () => ({ getRandomBytes: require("node:crypto").randomBytes }));
