/** The table `console_keys`: a key of 32 bytes for each kind of text that consoles seal. */
export interface ConsoleKeysTable {
  name: 'login' | 'stream';
  key: Uint8Array;
}
