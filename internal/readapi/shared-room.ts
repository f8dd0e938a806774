/** Bytes that a room has, and that one organization may take of them. */
export interface RoomSize {
  all: number;
  ofOne: number;
}

/**
 * Why there is no room: the organization has used its share (`own`), or all of it is taken (`all`).
 */
export type NoRoom = 'own' | 'all';

/** Counts the bytes that organizations hold in this process's memory. */
export class SharedRoom {
  readonly #size: RoomSize;
  readonly #ofOrganizations = new Map<string, number>();
  #taken = 0;

  constructor(size: RoomSize) {
    this.#size = size;
  }

  /**
   * Why an organization cannot have more bytes; undefined if they fit. A lone answer always fits.
   */
  lacks(organization: string, bytes: number): NoRoom | undefined {
    const own = this.#ofOrganizations.get(organization) ?? 0;
    if (own > 0 && own + bytes > this.#size.ofOne) return 'own';
    return this.#taken > 0 && this.#taken + bytes > this.#size.all ? 'all' : undefined;
  }

  /** Adds bytes, whether they fit or not; negative ones are given back. */
  add(organization: string, bytes: number): void {
    const own = (this.#ofOrganizations.get(organization) ?? 0) + bytes;
    if (own > 0) this.#ofOrganizations.set(organization, own);
    else this.#ofOrganizations.delete(organization);
    this.#taken += bytes;
  }
}
