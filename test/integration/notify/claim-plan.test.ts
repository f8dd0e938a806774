import { expect } from 'chai';
import { claimDue, type Claim, type ClaimOptions } from '../../../internal/controller/notify/claim.ts';
import { giveUpOld, noteDelivered, noteFailed } from '../../../internal/controller/notify/note-result.ts';
import { parkLater } from '../../../internal/controller/notify/park.ts';
import { eraseTraces } from '../../../internal/store/erase/erase-traces.ts';
import { readsOf, type Reads } from '../../support/explained.ts';
import { declareChannel, invoices } from '../../support/notify/expectations.ts';
import { query } from '../../support/postgres-server.ts';
import { migratedDatabase, type TestDatabase } from '../../support/store.ts';

const look: ClaimOptions = {
  slots: { shared: 50, ofOrganization: 20, ofChannel: 10, total: 500 },
  underWay: [],
  leaseMs: 60_000,
};

/** How often each name occurs. */
function countsOf(names: readonly string[]): [string, number][] {
  return [...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]);
}

/** Deliveries to each channel; of one automation unless `automation` says otherwise. */
async function enqueue({ url }: TestDatabase, count: number, automation = `'${invoices}'`): Promise<void> {
  await query(
    url,
    `insert into deliveries (id, organization, automation_id, channel_namespace, channel_name, event)
     select gen_random_uuid(), organization, (${automation})::uuid, namespace, name, jsonb_build_object('number', number)
     from generate_series(1, ${count}) as number, channels`,
  );
}

const oneOfEach = `lpad(to_hex(number), 32, '0')`;
const numberOf = ({ events }: Claim): unknown => (events[0] as unknown as { number: number }).number;

describe('a look into the outbox', () => {
  it('claims other deliveries than a concurrent look does, and one of a failing channel', async () => {
    await using database = await migratedDatabase();
    for (const name of ['incidents', 'failing']) await declareChannel(database.db, { url: 'https://acme.test/', name });
    await query(database.url, `update channels set failing_since = now() where name = 'failing'`);
    await enqueue(database, 20, 'gen_random_uuid()');
    const looks = await database.db.transaction().execute(async (trx) => {
      return [await claimDue(trx, look), await claimDue(database.db, look)];
    });
    const counts = looks.map((claims) => Object.fromEntries(countsOf(claims.map(({ name }) => name))));
    expect(counts).to.deep.equal([{ incidents: 10, failing: 1 }, { incidents: 10 }]);
    expect(new Set(looks.flat().map(({ id }) => id)).size).to.equal(21);
  });

  it('gives each organization its turn, and none more than its share', async () => {
    await using database = await migratedDatabase();
    for (const organization of ['acme', 'globex', 'initech']) {
      for (const name of ['a', 'b', 'c'])
        await declareChannel(database.db, { url: 'https://x.test/', organization, name });
    }
    await enqueue(database, 30, oneOfEach);
    const channel = { organization: 'acme', namespace: 'acme-automations', name: 'a' };
    const of = async (slots: Partial<typeof look.slots>, underWay: ClaimOptions['underWay'] = []) => {
      const claims = await claimDue(database.db, { ...look, slots: { ...look.slots, ...slots }, underWay });
      await query(database.url, 'update deliveries set next_attempt_at = now()');
      return Object.fromEntries(countsOf(claims.map(({ organization }) => organization)));
    };
    expect(await of({ shared: 1_000 })).to.deep.equal({ acme: 20, globex: 20, initech: 20 });
    expect(await of({ shared: 30 })).to.deep.equal({ acme: 10, globex: 10, initech: 10 });
    expect(await of({ shared: 20 }, [{ channel, count: 10 }])).to.deep.equal({ globex: 5, initech: 5 });
    const all = [{ channel, count: 50 }];
    expect(await of({}, all), 'beyond the shared ones').to.deep.equal({ globex: 1, initech: 1 });
    expect(await of({ total: 51 }, all)).to.satisfy((counts: object) => Object.keys(counts).length === 1);
  });

  it('takes deliveries of an automation one after the other, in their order', async () => {
    await using database = await migratedDatabase();
    await declareChannel(database.db, { url: 'https://acme.test/' });
    await enqueue(database, 5);
    const taken: unknown[] = [];
    for (let number = 1; number <= 5; number += 1) {
      const claims = await claimDue(database.db, look);
      taken.push(...claims.map(numberOf));
      await parkLater(database.db);
      for (const claim of claims) await noteDelivered(database.db, claim, { status: 200 });
    }
    expect(taken).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('finds the next delivery whatever ends the one before, at any time', async () => {
    await using database = await migratedDatabase();
    const { db, url } = database;
    await declareChannel(db, { url: 'https://acme.test/' });
    await enqueue(database, 3);
    await claimDue(db, look);
    expect(await parkLater(db), 'parked').to.equal(2);
    expect(await parkLater(db), 'parked again').to.equal(0);
    await query(url, `update deliveries set created_at = now() - interval '4 days' where event ->> 'number' = '1'`);
    expect(await giveUpOld(db)).to.have.lengthOf(1);
    expect((await claimDue(db, look)).map(numberOf)).to.deep.equal([2]);
    await query(
      url,
      `update deliveries set event = '{"data":{"execution":{"error_id":"E-1"}}}' where event ->> 'number' = '2'`,
    );
    await eraseTraces(db, { organization: 'acme', text: 'E-1', before: new Date(), by: 'ana', reason: 'x' });
    expect((await claimDue(db, look)).map(numberOf)).to.deep.equal([3]);
  });

  it('loses no delivery that is parked while the one before ends', async () => {
    await using database = await migratedDatabase();
    const { db } = database;
    await declareChannel(db, { url: 'https://acme.test/' });
    await enqueue(database, 300, oneOfEach);
    await enqueue(database, 300, oneOfEach);
    const sent: string[] = [];
    const send = async (): Promise<void> => {
      for (;;) {
        const claims = await claimDue(db, { ...look, slots: { ...look.slots, ofChannel: 20 } });
        if (claims.length === 0) return;
        await Promise.all(claims.map((claim) => noteDelivered(db, claim, { status: 200 })));
        sent.push(...claims.map(({ id }) => id));
      }
    };
    const ended = new AbortController();
    const park = async (): Promise<void> => {
      while (!ended.signal.aborted) await parkLater(db);
    };
    const parking = park();
    await Promise.all([send(), send()]);
    ended.abort();
    await parking;
    await send();
    expect(new Set(sent).size).to.equal(600);
    expect(sent).to.have.lengthOf(600);
  });

  it('reads few of the many that were added at once, which Postgres has not counted yet', async () => {
    await using database = await migratedDatabase();
    const { db, url } = database;
    await query(url, 'alter table deliveries set (autovacuum_enabled = false)');
    for (const name of ['a', 'b']) await declareChannel(db, { url: 'https://x.test/', name });
    await enqueue(database, 5_000, oneOfEach);
    const reads = await readsOf(url, async (own) => {
      const [claim] = await claimDue(own, look);
      await parkLater(own);
      if (claim) await noteFailed(own, claim, { status: 503, error: 'busy', pauseMs: 1_000 });
      for (const next of await claimDue(own, look)) await noteDelivered(own, next, { status: 200 });
    });
    expect(reads.rows('deliveries')).to.be.below(5_000);
  });

  it('reads as much among 100,000 deliveries as among 1,000, whatever they wait for', async function () {
    this.timeout(120_000);
    const reads: Record<'claim' | 'park' | 'claim of failing ones', Reads[]> = {
      claim: [],
      park: [],
      'claim of failing ones': [],
    };
    for (const count of [1_000, 100_000]) {
      await using database = await migratedDatabase();
      const { db, url } = database;
      for (const name of ['parked', 'unparked', 'refused', 'due'])
        await declareChannel(db, { url: 'https://x.test/', name });
      await query(
        url,
        `insert into deliveries (id, organization, channel_namespace, channel_name, event, automation_id, attempts, next_attempt_at)
         select gen_random_uuid(), organization, namespace, name, '{}',
           case when name like '%parked' then '${invoices}' else ${oneOfEach}::uuid end,
           case when name = 'refused' or number = 1 and name <> 'due' then 1 else 0 end,
           case when name = 'due' or number > 1 and name = 'unparked' then now() else now() + interval '1 hour' end
         from generate_series(1, ${count / 4}) as number, channels`,
      );
      await query(url, 'vacuum analyze deliveries, channels');
      reads.claim.push(await readsOf(url, (own) => claimDue(own, look)));
      reads.park.push(await readsOf(url, parkLater));
      await query(url, `update channels set open_until = now() + interval '1 hour'`);
      reads['claim of failing ones'].push(await readsOf(url, (own) => claimDue(own, look)));
    }
    for (const [what, [few, many]] of Object.entries(reads)) {
      const text = `${what}: ${few?.pages} and ${many?.pages} pages, ${few?.rows('deliveries')} and ${many?.rows('deliveries')} rows`;
      // A larger index is a level or two deeper.
      expect(many?.pages ?? Infinity, text).to.be.at.most(2 * (few?.pages ?? 0) + 20);
      expect(many?.rows('deliveries') ?? Infinity, text).to.be.at.most(1.5 * (few?.rows('deliveries') ?? 0));
    }
  });
});
