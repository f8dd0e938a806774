/**
 * A set of events by their ids: how many there are, and the exclusive or of all ids. Postgres
 * counts the same (`internal/store/partitions/event-days.ts`), in any order. Two sets with the same
 * figures are the same set: the ids have 74 random bits.
 */
export class IdSet {
  #rows = 0;
  #ids = 0n;

  add(id: string): void {
    this.#rows += 1;
    this.#ids ^= BigInt(`0x${id.replaceAll('-', '')}`);
  }

  get rows(): number {
    return this.#rows;
  }

  /** 32 hexadecimal digits. */
  get ids(): string {
    return this.#ids.toString(16).padStart(32, '0');
  }
}
