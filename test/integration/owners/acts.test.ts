import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sql } from 'kysely';
import { readAct } from '../../../internal/ledger/act.ts';
import { leafOfAct } from '../../../internal/ledger/act.ts';
import { actKeyOf, macKeyText } from '../../../internal/ledger/mac.ts';
import { Acts } from '../../../internal/store/acts/acts.ts';
import { digestOfRow, noteDigestOf } from '../../../internal/store/acts/act-mac.ts';
import { recordActs } from '../../../internal/store/acts/record-acts.ts';
import { findLeaf } from '../../../internal/store/ledger/find-leaf.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { readToken } from '../../support/console.ts';
import type { Browser } from '../../support/browser.ts';
import { compactAll, countPlaces } from '../../support/compacted.ts';
import { anEvent } from '../../support/events.ts';
import { declare, marginMs, tickAt } from '../../support/expectations.ts';
import { killedAt } from '../../support/killed-at.ts';
import { suiteLogin } from '../../support/login.ts';
import { OidcProvider } from '../../support/oidc-provider.ts';
import { formOf, gus, manage, olga, rita, roles } from '../../support/owners.ts';
import { macKey, seal, withLeaves } from '../../support/sealed-ledger.ts';
import { openDatabase } from '../../support/store.ts';

const html = { accept: 'text/html' };
const automationId = '0190a0b0-0000-7000-8000-000000000001';
const mutes = '/o/acme/mutes';
const run = `/o/acme/executions/${automationId}/run%201`;

describe('what owners do about alerts and executions', () => {
  let provider: OidcProvider;
  before(async () => {
    provider = await OidcProvider.start();
  });
  after(() => provider.stop());
  const suite = suiteLogin(() => ({
    ...provider.settings(roles),
    LEDGER_MAC_KEY: macKeyText(actKeyOf(macKey), 'ACT'),
  }));
  beforeEach(async () => {
    const { db } = suite.database;
    for (const table of ['acts', 'alerts', 'automations', 'events', 'executions', 'log_acts', 'log_segments'] as const)
      await db.deleteFrom(table).execute();
  });
  const logIn = async (account: Parameters<Browser['logIn']>[1]): Promise<Browser> => {
    const browser = suite.browser();
    await browser.logIn(provider, account);
    return browser;
  };
  const show = async (browser: Browser, path: string) => (await browser.get(path, html)).body.replaceAll(/\s+/g, ' ');
  /** What a worker does each second. */
  const record = (db = suite.database.db) =>
    recordActs(db, [macKey], (error) => {
      throw error;
    });
  const acts = () => suite.database.db.selectFrom('acts').selectAll().orderBy('made_at').execute();
  const activity = async () => {
    const rows = suite.database.db
      .selectFrom('access_log')
      .select(['name', 'action', 'detail'])
      .orderBy('id')
      .execute();
    return (await rows).filter(({ action }) => action !== 'looked').map((row) => Object.values(row).join(' | '));
  };
  /** The acts in the log of acme, each with its leaf. */
  const logged = async () => {
    const { db } = suite.database;
    await seal(db);
    const rows = await db.selectFrom('log_acts').selectAll().where('organization', '=', 'acme').orderBy('id').execute();
    for (const { id, act } of rows) expect((await findLeaf(db, 'acme', id))?.leaf).to.deep.equal(leafOfAct(id, act));
    const ofOwners = new Map((await acts()).map((row) => [row.id, row]));
    return rows.map(({ act }) => {
      const { kind, by, details } = readAct(act);
      const { row = '', sha256, ...others } = details;
      const own = ofOwners.get(row);
      expect(own && digestOfRow(own)).to.equal(sha256);
      return { kind, by, ...others };
    });
  };
  /** A failed run, with the alert that a controller opens for it. */
  const fail = async () => {
    const { db } = suite.database;
    const now = Date.now();
    await declare(db, { automationId, expect: { failures: { consecutive: 1 } }, declaredAt: now - 60_000 });
    await recordEvents(db, [
      anEvent({ kind: 'START', createdAt: now - 2_000 }),
      anEvent({ kind: 'ERROR', createdAt: now - 1_000 }),
    ]);
    await sql`update controller_state set watermark = null`.execute(db);
    await tickAt(db, now + marginMs);
    return (await db.selectFrom('alerts').select('id').executeTakeFirstOrThrow()).id;
  };

  it('mutes an automation until a time: its page, Overview, Activity and the log say who and why', async () => {
    await fail();
    const browser = await logIn(olga);
    const page = `/o/acme/automations/${automationId}`;
    expect(await show(browser, page)).to.include(`/o/acme/mutes?automation_id=${automationId}`);
    const form = await formOf(browser, `${mutes}?automation_id=${automationId}`, mutes);
    expect(form['automation_id']).to.equal(automationId);
    const until = new Date(Date.now() + 7_200_000).toISOString().slice(0, 16);
    for (let time = 0; time < 2; time += 1) {
      expect((await browser.post(mutes, { ...form, until, note: 'The host moves' })).status).to.equal(303);
    }
    expect(await acts()).to.have.length(1);
    for (const path of ['/o/acme', page, mutes]) {
      const body = await show(browser, path);
      expect(body, path).to.include('The host moves').and.to.include('Olga');
      expect(body, path).to.include(`until ${until.replace('T', ' ')} UTC`);
    }
    await record();
    await record();
    const [{ id } = { id: '' }] = await acts();
    const end = await formOf(browser, mutes, `${mutes}/${id}/end`);
    expect((await browser.post(`${mutes}/${id}/end`, end)).status).to.equal(303);
    expect(await show(browser, mutes)).to.include('Nothing is muted');
    expect(await show(browser, '/o/acme?window=7d')).to.not.include('The host moves');
    expect(await show(browser, page))
      .to.include('Muted it: <bdi>The host moves</bdi>')
      .and.to.include('Ended a mute');
    await record();
    const told = `muted | ${automationId} until ${until}:00.000Z`;
    expect(await activity()).to.deep.equal([`Olga | ${told}`, `Olga | ${told}`, `Olga | unmuted | mute ${id}`]);
    expect(await logged()).to.deep.equal([
      { kind: 'muted', by: 'Olga', automation: automationId, mute: id, until: `${until}:00.000Z` },
      { kind: 'unmuted', by: 'Olga', automation: automationId, mute: id },
    ]);
  });

  it('writes notes about compacted runs, which no closing can be about', async () => {
    const { db, url } = suite.database;
    const ended = (['START', 'END'] as const).flatMap((kind) =>
      [1, 2, 3, 4].map((at) => anEvent({ executionId: `run ${at}`, kind, createdAt: Date.now() - 1_000 + at })),
    );
    await recordEvents(db, ended);
    await using own = openDatabase(url);
    await compactAll(own);
    expect(await countPlaces(db)).to.include({ compacted: 3 });
    const asReader = new URL(url);
    asReader.searchParams.set('options', '-c role=runledger_reader');
    await using reader = openDatabase(asReader.href);
    const written = new Acts(() => reader, [actKeyOf(macKey)]);
    const add = (executionId: string, act: { kind: 'note' } | { kind: 'close'; as: 'lost' }, organization = 'acme') =>
      written.add({ organization, id: randomUUID(), by: 'Olga', note: 'Ticket 7', automationId, executionId, ...act });
    expect(await add('run 1', { kind: 'close', as: 'lost' })).to.equal(false);
    expect(await add('run 9', { kind: 'note' })).to.equal(false);
    expect(await add('run 1', { kind: 'note' }, 'globex')).to.equal(false);
    for (const executionId of ['run 1', 'run 4']) expect(await add(executionId, { kind: 'note' })).to.equal(true);
    await record();
    expect((await logged()).map(({ kind }) => kind)).to.deep.equal(['note-written', 'note-written']);
    await db.deleteFrom('compacted_executions').execute();
    await db.deleteFrom('compacted_keys').execute();
  });

  it('mutes the organization in a maintenance window; a faulty one is refused in words', async () => {
    const browser = await logIn(olga);
    const form = await formOf(browser, mutes, mutes);
    const window = { schedule: '* * * * *', timeZone: 'Europe/Madrid', duration: '5m', note: 'Patches' };
    for (const [fault, words] of [
      [{ schedule: '99 * * * *' }, 'The schedule must be a cron expression'],
      [{ duration: '8d' }, 'The duration must be from 1m to 7d'],
      [{ timeZone: 'Mars/Base' }, 'The time zone must be a name'],
      [{ note: '' }, 'The reason must have 1 to 500 characters'],
      [{ schedule: '' }, 'Mute until a time within a year from now'],
      [{ until: '2001-01-01T00:00' }, 'Mute until a time within a year from now'],
    ] as const) {
      const answer = await browser.post(mutes, { ...form, ...window, ...fault }, html);
      expect([answer.status, answer.body.includes(words)], words).to.deep.equal([400, true]);
    }
    expect(await acts()).to.deep.equal([]);
    expect((await browser.post(mutes, { ...form, ...window })).status).to.equal(303);
    const body = await show(browser, '/o/acme/alerts');
    expect(body).to.include('href="/o/acme/mutes"');
    expect(await show(browser, mutes)).to.match(
      /All of acme.*until [^<]*UTC.*for 5m at <code>\* \* \* \* \*<\/code> \(Europe\/Madrid\).*Patches/,
    );
  });

  it('acknowledges an alert with a note, which is shown wherever the alert is', async () => {
    const id = await fail();
    const browser = await logIn(olga);
    const page = `/o/acme/alerts/${id}`;
    expect(await show(browser, '/o/acme/alerts')).to.include(`href="${page}"`);
    const form = await formOf(browser, page, `${page}/acknowledge`);
    expect((await browser.post(`${page}/acknowledge`, { ...form, note: 'I restart the queue' })).status).to.equal(303);
    for (const path of [page, '/o/acme/alerts', '/o/acme', `/o/acme/automations/${automationId}`]) {
      expect(await show(await logIn(rita), path), path).to.match(
        /Acknowledged by <bdi>Olga<\/bdi> .*: <bdi>I restart the queue<\/bdi>/,
      );
    }
    expect(await show(browser, run)).to.include('Acknowledged an alert: <bdi>I restart the queue</bdi>');
    await record();
    expect(await activity()).to.deep.equal([`Olga | acknowledged | alert ${id}`]);
    expect(await logged()).to.deep.equal([
      { kind: 'alert-acknowledged', by: 'Olga', automation: automationId, alert: id },
    ]);
    await suite.database.db.updateTable('alerts').set({ resolved_at: new Date() }).execute();
    const late = await browser.post(`${page}/acknowledge`, { form: randomUUID(), note: 'Too late' }, html);
    expect([late.status, late.body.includes('The alert is over')]).to.deep.equal([400, true]);
    expect(await show(browser, page)).to.not.include('/acknowledge"');
  });

  it('closes a lost run with events that are recorded once, and writes notes; its timeline has all', async () => {
    const { db } = suite.database;
    const at = Date.now() - 10 * 86_400_000;
    await recordEvents(db, [anEvent({ kind: 'START', createdAt: at, executionId: 'run 1' })], withLeaves);
    await db.updateTable('running_executions').set({ lost_at: new Date() }).execute();
    const browser = await logIn(olga);
    const form = await formOf(browser, run, `${run}/close`);
    const closing = { ...form, as: 'lost', note: 'The host is gone' };
    expect((await browser.post(`${run}/close`, closing)).status).to.equal(303);
    const waiting = await show(browser, run);
    expect(waiting).to.include('(its events follow)').and.to.not.include(`${run}/close"`);
    await using others = openDatabase(suite.database.url);
    await Promise.all([record(), record(others), record(others)]);
    await record();
    expect((await browser.post(`${run}/close`, closing)).status).to.equal(303);
    expect((await browser.post(`${run}/close`, { ...closing, form: randomUUID() }, html)).body).to.include(
      'The run has ended',
    );
    await browser.post(`${run}/note`, { ...(await formOf(browser, run, `${run}/note`)), note: 'Ticket 7' });
    await record();
    const events = await db.selectFrom('events').select(['kind', 'description', 'error_id']).orderBy('id').execute();
    const description = 'Closed by Olga: The host is gone';
    expect(events).to.deep.equal([
      { kind: 'START', description: '', error_id: '' },
      { kind: 'ERROR', description, error_id: 'lost' },
      { kind: 'END', description, error_id: '' },
    ]);
    expect(await db.selectFrom('executions').select('state').execute()).to.deep.equal([{ state: 'failed' }]);
    const page = await show(browser, run);
    expect(page)
      .to.include('Closed the run as lost: <bdi>The host is gone</bdi>')
      .and.to.include('Noted: <bdi>Ticket 7');
    expect(page.indexOf('The host is gone')).to.be.lessThan(page.indexOf('Ticket 7'));
    expect(await activity()).to.deep.equal([
      `Olga | closed | a run of ${automationId} as lost`,
      `Olga | closed | a run of ${automationId} as lost`,
      `Olga | closed | a run of ${automationId} as lost`,
      `Olga | noted | a run of ${automationId}`,
    ]);
    const end = await db.selectFrom('events').select('id').where('kind', '=', 'END').executeTakeFirstOrThrow();
    const [closed, noted] = await logged();
    expect(closed).to.deep.equal({ kind: 'run-closed', by: 'Olga', automation: automationId, event: end.id });
    expect(noted).to.include({ kind: 'note-written', by: 'Olga', automation: automationId });
    expect((await findLeaf(db, 'acme', end.id))?.leaf).to.have.length.greaterThan(0);
  });

  it('is done by a manage token too, once for each Idempotency-Key, and by no other token', async () => {
    const id = await fail();
    const act = (body: object, headers = {}) => manage(suite, 'POST', '/v1/acts/', body, headers);
    const run = { automation_id: automationId, execution_id: 'run 1' };
    const key = { 'idempotency-key': randomUUID() };
    const mute = { kind: 'mute', note: 'Patches', until: new Date(Date.now() + 60_000).toISOString() };
    for (let time = 0; time < 2; time += 1) expect((await act(mute, key)).status).to.equal(201);
    const window = { schedule: '0 2 * * 0', time_zone: 'Europe/Madrid', duration: '2h' };
    const other = await act({ kind: 'mute', note: 'Weekly', automation_id: automationId, window });
    expect(other.status).to.equal(201);
    const listed = (await manage(suite, 'GET', '/v1/mutes/')).json<{ items: { note: string; window: object }[] }>();
    expect(listed.items.map(({ note, window: of }) => [note, of])).to.deep.equal([
      ['Weekly', window],
      ['Patches', null],
    ]);
    expect((await act({ kind: 'unmute', mute: other.json<{ id: string }>().id })).status).to.equal(201);
    expect((await act({ kind: 'acknowledge', alert: id, note: 'Mine' })).status).to.equal(201);
    expect((await act({ kind: 'note', ...run, note: 'Seen' })).status).to.equal(201);
    expect((await act({ kind: 'close', ...run, as: 'lost', note: 'It has failed' })).status).to.equal(404);
    expect((await acts()).map(({ kind }) => kind)).to.deep.equal(['mute', 'mute', 'unmute', 'acknowledge', 'note']);
    expect(await activity()).to.satisfy((all: string[]) => all.every((one) => one.startsWith('manage token ')));
    for (const [body, pointer] of [
      [{}, '/kind'],
      [{ kind: 'mute', note: 'x' }, '/until'],
      [{ kind: 'mute', note: 'x', until: '2001-01-01T00:00:00Z' }, '/until'],
      [{ kind: 'mute', note: 'x', window: { schedule: 'x', duration: '2h' } }, '/window'],
      [{ kind: 'note', note: '', ...run }, '/note'],
      [{ kind: 'note', note: 'x', ...run, as: 'lost' }, '/as'],
      [{ kind: 'acknowledge', note: 'x', alert: 'y' }, '/alert'],
    ] as const) {
      const answer = await act(body);
      expect([answer.status, answer.body.includes(`"${pointer}"`)], pointer).to.deep.equal([400, true]);
    }
    for (const token of [readToken('acme'), 'write-token-of-acme']) {
      expect((await act(mute, { token })).status).to.equal(403);
      expect((await manage(suite, 'GET', '/v1/mutes/', undefined, { token })).status).to.equal(403);
    }
  });

  it('closes no run that has ended before a worker comes to it', async () => {
    const { db } = suite.database;
    const events = (kind: 'START' | 'END') => recordEvents(db, [anEvent({ kind, executionId: 'run 1' })]);
    await events('START');
    const browser = await logIn(olga);
    const form = await formOf(browser, run, `${run}/close`);
    await browser.post(`${run}/close`, { ...form, as: 'lost', note: 'Gone' });
    await events('END');
    await record();
    expect(await db.selectFrom('events').select('kind').orderBy('id').execute()).to.deep.equal([
      { kind: 'START' },
      { kind: 'END' },
    ]);
    expect(await logged()).to.deep.equal([{ kind: 'run-closed', by: 'Olga', automation: automationId }]);
  });

  it('takes effect once and is in the log once, wherever a console or a worker is killed', async () => {
    const { db } = suite.database;
    let killed = true;
    for (let at = 1; killed; at += 1) {
      const executionId = `run ${at}`;
      await recordEvents(db, [anEvent({ kind: 'START', executionId })], withLeaves);
      const counter = { left: at };
      const dying = killedAt(db, counter);
      const id = randomUUID();
      const act = {
        organization: 'acme',
        id,
        by: 'Olga',
        note: 'Gone',
        kind: 'close',
        automationId,
        executionId,
      } as const;
      const close = (to: typeof db) => new Acts(() => to, [actKeyOf(macKey)]).add({ ...act, as: 'lost' });
      killed = await close(dying)
        .then(() => recordActs(dying, [macKey], () => undefined))
        .then(
          () => counter.left <= 0,
          () => true,
        );
      // The next console has the same form, the next worker the same row.
      expect(await close(db)).to.equal(true);
      await record();
      const events = db.selectFrom('events').select('kind').where('execution_id', '=', executionId).orderBy('id');
      expect(
        (await events.execute()).map(({ kind }) => kind),
        String(at),
      ).to.deep.equal(['START', 'ERROR', 'END']);
      expect((await logged()).filter(({ kind }) => kind === 'run-closed')).to.have.length(at);
    }
  });

  it('has no effect where there is a log and only Postgres has it: nor has a change of what an owner did', async () => {
    const { db } = suite.database;
    const alert = await fail();
    await recordEvents(db, [anEvent({ kind: 'START', executionId: 'open' })], withLeaves);
    const acme = { organization: 'acme', by: 'Olga', note: 'Patches' };
    const genuine = { ...acme, kind: 'mute', automationId, until: new Date('2099-01-01'), window: undefined } as const;
    const [kept, changed] = [randomUUID(), randomUUID()];
    for (const id of [kept, changed]) {
      expect(await new Acts(() => db, [actKeyOf(macKey)]).add({ ...genuine, id })).to.equal(true);
    }
    const row = await db.selectFrom('acts').selectAll().where('id', '=', kept).executeTakeFirstOrThrow();
    const erased = { note: '', salt: null, note_digest: noteDigestOf(row) };
    await db.updateTable('acts').set(erased).where('id', '=', kept).execute();
    await db.updateTable('acts').set({ automation_id: null, note: 'All' }).where('id', '=', changed).execute();
    const forged = {
      organization: 'acme',
      made_by: 'Olga',
      note: 'Forged',
      details: '{}',
      automation_id: automationId,
    };
    const of = (kind: 'mute' | 'unmute' | 'acknowledge' | 'close' | 'note') => ({ ...forged, id: randomUUID(), kind });
    const written = new Date();
    const rows = [
      of('mute'),
      { ...of('mute'), recorded_at: written },
      { ...of('unmute'), about: kept, recorded_at: written },
      { ...of('acknowledge'), about: alert },
      { ...of('note'), execution_id: 'open' },
      { ...of('close'), execution_id: 'open', details: JSON.stringify({ as: 'lost' }) },
    ];
    await db.insertInto('acts').values(rows).execute();
    await record();

    const browser = await logIn(olga);
    const paths = [
      '/o/acme',
      '/o/acme/alerts',
      mutes,
      `/o/acme/alerts/${alert}`,
      `/o/acme/automations/${automationId}`,
    ];
    for (const path of [...paths, `/o/acme/executions/${automationId}/open`]) {
      expect(await show(browser, path), path)
        .to.not.include('Forged')
        .and.to.not.include('All of acme');
    }
    const { items } = (await manage(suite, 'GET', '/v1/mutes/')).json<{ items: { id: string }[] }>();
    expect(items.map(({ id }) => id)).to.deep.equal([kept]);
    const open = db.selectFrom('executions').select('state').where('execution_id', '=', 'open');
    expect(await open.execute()).to.deep.equal([{ state: 'running' }]);
    expect((await logged()).map(({ kind }) => kind)).to.deep.equal(['muted']);
    const refused = await db.selectFrom('log_segments').select('refused').execute();
    expect(refused.map((row) => row.refused)).to.deep.equal([true, true, true, true, true]);
    const end = await formOf(browser, mutes, `${mutes}/${kept}/end`);
    expect((await browser.post(`${mutes}/${kept}/end`, end)).status).to.equal(303);
    expect(await show(browser, mutes)).to.include('Nothing is muted');
  });

  it('is not done while the access log cannot be written', async () => {
    await fail();
    const browser = await logIn(olga);
    const form = await formOf(browser, run, `${run}/note`);
    await sql`alter table access_log add constraint none check (action <> 'noted') not valid`.execute(
      suite.database.db,
    );
    try {
      expect((await browser.post(`${run}/note`, { ...form, note: 'A note' })).status).to.equal(500);
      expect(await acts()).to.deep.equal([]);
    } finally {
      await sql`alter table access_log drop constraint none`.execute(suite.database.db);
    }
  });

  it('is for owners only, from a page of this console: each route', async () => {
    const id = await fail();
    const form = { form: randomUUID(), note: 'Mine', until: '2099-01-01T00:00', as: 'lost' };
    const paths = [
      mutes,
      `${mutes}/${randomUUID()}/end`,
      `/o/acme/alerts/${id}/acknowledge`,
      `${run}/note`,
      `${run}/close`,
    ];
    const owner = await logIn(olga);
    for (const path of paths) {
      for (const [browser, status] of [
        [await logIn(rita), 403],
        [await suite.reader(), 403],
        [await logIn(gus), 404],
        [suite.browser(), 302],
      ] as const) {
        expect((await browser.post(path, form, html)).status, path).to.equal(status);
      }
      expect((await owner.post(path, form, { 'sec-fetch-site': 'cross-site' })).status, path).to.equal(403);
    }
    expect(await acts()).to.deep.equal([]);
    const reader = await logIn(rita);
    for (const path of [mutes, `/o/acme/alerts/${id}`, run, `/o/acme/automations/${automationId}`, '/o/acme/alerts']) {
      expect((await reader.get(path, html)).body.split('<main')[1], path).to.not.match(/<form[^>]* method="post"/);
    }
  });
});
