/**
 * The part of React Native that this package uses. With this file the sources compile without React Native. `npm run
 * check:native-spec` compiles them against React Native's own types.
 */
declare module "react-native" {
  export namespace CodegenTypes {
    type UnsafeObject = object;
  }
  export interface TurboModule {
    getConstants?(): object;
  }
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- React Native's own signature.
  export const TurboModuleRegistry: { get<T extends TurboModule>(name: string): T | null };
  export const Platform: {
    readonly OS: "ios" | "android" | "macos" | "windows" | "web";
    readonly constants: {
      readonly reactNativeVersion: { readonly major: number; readonly minor: number; readonly patch: number };
    };
  };
}
