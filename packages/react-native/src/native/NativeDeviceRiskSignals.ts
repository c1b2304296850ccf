/**
 * React Native's codegen generates the native interface from this file. The shapes of requests and answers are in
 * `native-interface.ts`: because codegen has no unions, they are plain objects here, and the SDK checks them when they
 * arrive.
 */
import type { CodegenTypes, TurboModule } from "react-native";
import { TurboModuleRegistry } from "react-native";

export interface Spec extends TurboModule {
  collect(call: string, probe: string, request: CodegenTypes.UnsafeObject): Promise<CodegenTypes.UnsafeObject>;
  cancel(call: string): void;
  startObservation(): Promise<boolean>;
  stopObservation(): void;
  echo(value: number): Promise<number>;
}

export default TurboModuleRegistry.get<Spec>("DeviceRiskSignals");
