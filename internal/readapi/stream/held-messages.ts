import { heldTextBytes } from '../../event/held-bytes.ts';
import type { SharedRoom } from '../shared-room.ts';
import type { Message } from './messages.ts';

/**
 * The messages that one organization's streams hold for slow readers, and the bytes on their way to
 * them. A message counts once, however many streams hold it.
 */
export class HeldMessages {
  readonly #room: SharedRoom;
  readonly #organization: string;
  readonly #holders = new Map<Message, number>();

  constructor(room: SharedRoom, organization: string) {
    this.#room = room;
    this.#organization = organization;
  }

  /** False if there is no room for it. */
  hold(message: Message): boolean {
    const holders = this.#holders.get(message) ?? 0;
    const bytes = heldTextBytes(message.text);
    if (holders === 0) {
      if (!this.fits(bytes)) return false;
      this.#room.add(this.#organization, bytes);
    }
    this.#holders.set(message, holders + 1);
    return true;
  }

  release(message: Message): void {
    const holders = (this.#holders.get(message) ?? 0) - 1;
    if (holders > 0) {
      this.#holders.set(message, holders);
      return;
    }
    this.#holders.delete(message);
    this.#room.add(this.#organization, -heldTextBytes(message.text));
  }

  fits(bytes: number): boolean {
    return this.#room.lacks(this.#organization, bytes) === undefined;
  }

  /** Adds bytes that were given to a connection; negative ones once it has taken them. */
  addSent(bytes: number): void {
    this.#room.add(this.#organization, bytes);
  }
}
