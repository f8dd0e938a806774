/** Named objects in a folder or a bucket. Slashes separate the parts of a name. */
export interface Objects {
  /** Where they are, for people; never a password. */
  readonly where: string;
  /** The names that begin with `prefix`, which ends with a slash, in any order. */
  list(prefix: string): Promise<string[]>;
  /** The bytes of an object. Fails with {@link NoSuchObject} if there is none. */
  read(name: string): AsyncIterable<Uint8Array>;
  /** The bytes of an object from `from` until before `to`; fewer where it ends. Fails likewise. */
  readRange(name: string, from: number, to: number): Promise<Uint8Array>;
  /**
   * Writes or replaces an object, whole or not at all. Resolves once it is on disk. Rejects when
   * the signal is aborted, and leaves nothing of the object.
   */
  write(name: string, pieces: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void>;
  /** Closes its connections. */
  close(): void;
}

/** There is no object of this name. */
export class NoSuchObject extends Error {
  override readonly name = 'NoSuchObject';
}
