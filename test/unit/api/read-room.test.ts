import { expect } from 'chai';
import { ReadRoom, type Part } from '../../../internal/readapi/read-room.ts';
import { RequestError } from '../../../internal/kit/errors/request-error.ts';
import { failureOf } from '../../support/failure.ts';

describe('the room of reads', () => {
  /** Enters, and notes its name once it has. */
  function enter(room: ReadRoom, organization: string, entered: string[]): Promise<Part> {
    return room.enter(organization, 10, Infinity).then((part) => {
      entered.push(organization);
      return part;
    });
  }

  const turnOfLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

  it('lets organizations wait in turns, each for its own part', async () => {
    const room = new ReadRoom({ all: 40, ofOne: 20 });
    const entered: string[] = [];
    const hostile = Array.from({ length: 6 }, () => enter(room, 'hostile', entered));
    await turnOfLoop();
    expect(entered).to.deep.equal(['hostile', 'hostile']);
    const quiet = Array.from({ length: 3 }, () => enter(room, 'quiet', entered));
    await turnOfLoop();
    expect(entered.slice(2)).to.deep.equal(['quiet', 'quiet']);
    (await quiet[0])?.end();
    await turnOfLoop();
    expect(entered.slice(4)).to.deep.equal(['quiet']);
    (await hostile[0])?.resize(1);
    await turnOfLoop();
    expect(entered).to.have.lengthOf(5);
    (await hostile[0])?.end();
    await turnOfLoop();
    expect(entered.slice(5)).to.deep.equal(['hostile']);
  });

  it('refuses in time: with 429 the organization that has its part, with 503 another one', async () => {
    const room = new ReadRoom({ all: 20, ofOne: 10 });
    const [first] = [await room.enter('a', 10), await room.enter('b', 10)];
    const codes = await Promise.all(
      ['a', 'c'].map(async (organization) => {
        const error = await failureOf(room.enter(organization, 10, 1));
        return error instanceof RequestError && error.code;
      }),
    );
    expect(codes).to.deep.equal(['too-many-requests', 'unavailable']);
    first.end();
    first.end();
    (await room.enter('c', 10, 1)).end();
  });
});
