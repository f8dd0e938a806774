import { expect } from 'chai';
import { RequestError } from '../../../internal/kit/errors/request-error.ts';
import type { Keyed, Keys, Result } from '../../../internal/queue/keys/idempotency.ts';
import { SpreadKeys } from '../../../internal/queue/keys/spread-keys.ts';
import { anEvent } from '../../support/events.ts';

const busy = new RequestError('request-in-progress', 'under way');
const reserved = (id: string): Result => ({ identities: [{ id, createdAt: 1 }], committed: false });
const named = (name: string): Keyed => ({ key: ['caller', name], events: [anEvent({ id: name })] });
const [a, b, c] = [named('a'), named('b'), named('c')];

interface Answers {
  look?: Result;
  reserve?: Result | Error;
}

/** A place that answers so for each of its keys, and writes down its calls. */
function place(calls: string[], name: string, answers: Answers): Keys {
  const note = (call: string, keyed: readonly Keyed[]): void => {
    calls.push([name, call, ...keyed.map(({ key: [, name] }) => name)].join(' '));
  };
  const end = (call: string) => async (keyed: readonly Keyed[]) => note(call, keyed);
  return {
    async look(keyed) {
      note('look', keyed);
      return keyed.map(({ key: [, name] }) => answers.look ?? reserved(name));
    },
    async reserve(keyed, which) {
      note(`reserve ${which}`, keyed);
      const { reserve } = answers;
      if (reserve instanceof Error && !(reserve instanceof RequestError)) throw reserve;
      return keyed.map(({ key: [, name] }) => reserve ?? reserved(name));
    },
    markCommitted: end('commit'),
    release: end('release'),
    replaceIdentity: end('replace'),
  };
}

/** Two places: b is in the second, the others are in the first. */
function spread(first: Answers = {}, second: Answers = {}) {
  const calls: string[] = [];
  const places = [place(calls, '1', first), place(calls, '2', second)] as const;
  return { keys: new SpreadKeys(({ key: [, name] }) => places[name === 'b' ? 1 : 0]), calls };
}

describe('idempotency keys in many places', () => {
  it('give their results in the order of the request', async () => {
    const { keys, calls } = spread({}, { reserve: busy });
    expect(await keys.reserve([a, b, c], 'each')).to.deep.equal([reserved('a'), busy, reserved('c')]);
    await keys.markCommitted([a, b, c]);
    expect(calls).to.deep.equal(['1 reserve each a c', '2 reserve each b', '1 commit a c', '2 commit b']);
  });

  it('need no look when all are in one place', async () => {
    const { keys, calls } = spread();
    await keys.reserve([a, c], 'all');
    expect(calls).to.deep.equal(['1 reserve all a c']);
  });

  it('are all reserved or none: a look comes first', async () => {
    const { keys, calls } = spread({}, { look: busy });
    expect(await keys.reserve([a, b], 'all')).to.deep.equal([reserved('a'), busy]);
    expect(calls).to.deep.equal(['1 look a', '2 look b']);
  });

  it('are released where they were reserved, if another request was faster elsewhere', async () => {
    const { keys, calls } = spread({}, { reserve: busy });
    expect(await keys.reserve([a, b], 'all')).to.deep.equal([reserved('a'), busy]);
    expect(calls.slice(2)).to.deep.equal(['1 reserve all a', '2 reserve all b', '1 release a']);
  });

  it('are released if one place is unavailable, so that the repeat need not wait', async () => {
    const { keys, calls } = spread({}, { reserve: new Error('no answer') });
    expect(await keys.reserve([a, b], 'each').catch(String)).to.equal('Error: no answer');
    expect(calls).to.deep.equal(['1 reserve each a', '2 reserve each b', '1 release a']);
  });
});
