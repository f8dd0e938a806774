import { expect } from 'chai';
import { moveOrganization } from '../../../internal/store/organizations/move/move.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { createTelemetry } from '../../../internal/kit/telemetry/telemetry.ts';
import { readToken, startConsole } from '../../support/console.ts';
import { anEvent } from '../../support/events.ts';
import { StreamReader } from '../../support/stream-reader.ts';
import { place, twoDatabases } from '../../support/two-databases.ts';
import { until } from '../../support/until.ts';

const { logger } = createTelemetry('move', 'silent');

describe('a console of several databases', function () {
  this.timeout(180_000);
  const event = (organization: string, description: string) => anEvent({ organization, description });

  it('reads each organization from its database, and its streams follow a move', async () => {
    await using databases = await twoDatabases();
    const { first, eu, settings, named } = databases;
    await place(first.db, 'globex', 'eu');
    await recordEvents(first.db, [event('acme', 'of acme'), event('globex', 'left over')]);
    await recordEvents(eu.db, [event('globex', 'of globex')]);
    await using console = await startConsole(first.url, { DATABASE_URLS: settings.DATABASE_URLS });
    const read = async (organization: string): Promise<string[]> => {
      const answer = await console.client.send({ path: '/v1/events/', headers: { token: readToken(organization) } });
      const { items = [] } = answer.json<{ items?: { description: string }[] }>();
      return items.map(({ description }) => description);
    };
    await until('it is ready', () => Object.keys(console.unready()).length === 0);
    expect(await read('globex')).to.deep.equal(['of globex']);
    expect(await read('acme')).to.deep.equal(['of acme']);

    using reader = await StreamReader.open(console.port);
    const begin = reader.lastEventId;
    await recordEvents(first.db, [event('acme', 'before')]);
    await reader.until('an event', () => reader.descriptions.length >= 1);
    const between = reader.lastEventId;
    await recordEvents(first.db, [event('acme', 'unseen')]);
    await moveOrganization({ databases: named, organization: 'acme', logger }, 'eu');
    await recordEvents(eu.db, [event('acme', 'after')]);
    await reader.until('the rest', () => reader.descriptions.length >= 3);
    expect(reader.descriptions).to.deep.equal(['before', 'unseen', 'after']);
    for (const [lastEventId, rest] of [
      [begin, ['before', 'unseen', 'after']],
      [between, ['unseen', 'after']],
      [reader.lastEventId, []],
    ] as const) {
      using again = await StreamReader.open(console.port, { lastEventId });
      await again.until('what it missed', () => again.descriptions.length >= rest.length);
      expect(again.descriptions).to.deep.equal(rest);
      expect(again.messages.some(({ event: kind }) => kind === 'omitted')).to.equal(false);
    }
    expect(await read('acme')).to.deep.equal(['after', 'unseen', 'before', 'of acme']);

    // An unavailable one is so for its organizations only.
    await using alone = await startConsole(first.url, { DATABASE_URLS: 'eu=postgres://127.0.0.1:1/none' });
    await until('it is ready', () => Object.keys(alone.unready()).length === 0);
    const statusOf = async (organization: string): Promise<number> =>
      (await alone.client.send({ path: '/v1/events/', headers: { token: readToken(organization) } })).status;
    expect([await statusOf('globex'), await statusOf('initech')]).to.deep.equal([503, 200]);
    await until('it says so', () => 'postgres eu' in alone.degraded());
  });
});
