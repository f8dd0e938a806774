import { expect } from 'chai';
import { BodyRoom, bodyRoomBytes } from '../../../internal/intake/bodies/body-room.ts';
import { RequestError } from '../../../internal/kit/errors/request-error.ts';

describe('the room for bodies', () => {
  it('refuses with 429 an organization that has its half, and with 503 one that finds nothing left', () => {
    const room = new BodyRoom();
    const half = bodyRoomBytes.ofOne;
    const refused = (organization: string): string | undefined => {
      try {
        room.take(organization, 1);
        room.release(organization, 1);
        return undefined;
      } catch (error) {
        return error instanceof RequestError ? error.code : String(error);
      }
    };
    room.take('hostile', half);
    expect([refused('hostile'), refused('quiet')]).to.deep.equal(['too-many-requests', undefined]);
    room.take('quiet', bodyRoomBytes.all - half);
    expect([refused('hostile'), refused('other')]).to.deep.equal(['too-many-requests', 'unavailable']);
    room.release('hostile', half);
    expect([refused('hostile'), refused('other')]).to.deep.equal([undefined, undefined]);
  });
});
