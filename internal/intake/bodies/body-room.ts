import { RequestError, Unavailable } from '../../kit/errors/request-error.ts';

const mebi = 1_024 * 1_024;

/** Most bytes of bodies that a pod, or one organization, may hold until the answers are sent. */
export const bodyRoomBytes = { all: 24 * mebi, ofOne: 12 * mebi };

/** Room for the bodies of a pod, in bytes. */
export class BodyRoom {
  readonly #ofOrganizations = new Map<string, number>();
  #taken = 0;

  /** @throws {RequestError} `too-many-requests`, or `unavailable` if others take up the room. */
  take(organization: string, bytes: number): void {
    const own = this.#ofOrganizations.get(organization) ?? 0;
    if (own + bytes > bodyRoomBytes.ofOne) throw tooMany();
    if (this.#taken + bytes > bodyRoomBytes.all) throw tooManyOfAll();
    this.#ofOrganizations.set(organization, own + bytes);
    this.#taken += bytes;
  }

  release(organization: string, bytes: number): void {
    const own = (this.#ofOrganizations.get(organization) ?? 0) - bytes;
    if (own > 0) this.#ofOrganizations.set(organization, own);
    else this.#ofOrganizations.delete(organization);
    this.#taken -= bytes;
  }
}

function tooMany(): RequestError {
  const detail = `The organization sends more than ${bodyRoomBytes.ofOne} bytes of large bodies at once.`;
  return new RequestError('too-many-requests', detail);
}

function tooManyOfAll(): RequestError {
  return new Unavailable('Too many large bodies arrive at once.', 'buffer-full');
}
