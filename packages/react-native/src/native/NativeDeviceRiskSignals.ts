/**
 * The source from which React Native's codegen generates the native interface. The shapes of requests and answers are
 * in `native-interface.ts`: codegen knows no unions, so they travel as plain objects and are checked on arrival.
 */
import type { TurboModule } from "react-native";
import { TurboModuleRegistry } from "react-native";
import type { UnsafeObject } from "react-native/Libraries/Types/CodegenTypes";

export interface Spec extends TurboModule {
  collect(call: string, probe: string, request: UnsafeObject): Promise<UnsafeObject>;
  cancel(call: string): void;
  startObservation(): Promise<boolean>;
  stopObservation(): void;
  echo(value: number): Promise<number>;
}

export default TurboModuleRegistry.get<Spec>("DeviceRiskSignals");
