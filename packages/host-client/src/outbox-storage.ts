/**
 * Where the outbox keeps events: the shape of AsyncStorage, of wrappers of MMKV and of the Web's `localStorage`. Values
 * are raw events: hand in a storage that is encrypted and not backed up.
 */
export interface OutboxStorage {
  getItem(name: string): Promise<string | null | undefined> | string | null | undefined;
  setItem(name: string, value: string): unknown;
  removeItem(name: string): unknown;
}
