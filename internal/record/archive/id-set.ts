/**
 * A set of events by their ids: their number and the XOR of all ids, in any order. Postgres
 * computes the same (`internal/store/partitions/event-days.ts`). Sets with the same figures are the
 * same set: ids have 74 random bits.
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
