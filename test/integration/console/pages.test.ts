import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { sql } from 'kysely';
import { readLeaf } from '../../../internal/ledger/leaf.ts';
import { readProof } from '../../../internal/ledger/proof-text.ts';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { seal, withLeaves } from '../../support/sealed-ledger.ts';
import { readToken, startConsole, type RunningConsole } from '../../support/console.ts';
import { storeEvents } from '../../support/reading.ts';
import { migratedDatabase, type TestDatabase } from '../../support/store.ts';
import { until } from '../../support/until.ts';
import type { Viewer } from '../../../internal/console/viewer.ts';

const automation = '0190a0b0-0000-7000-8000-000000000001';
const other = '0190a0b0-0000-7000-8000-000000000003';
const [ada, nobody]: (Viewer | undefined)[] = [{ subject: 'ada', name: 'ada', organizations: ['acme'] }, undefined];

const screens = [
  '/o/acme/executions',
  `/o/acme/executions/${automation}/run%201`,
  `/o/acme/executions/${automation}/run%201/json`,
];

describe('the pages of the console', () => {
  let database: TestDatabase;
  let console: RunningConsole;
  let viewer: Viewer | undefined;
  const seen: string[] = [];

  before(async () => {
    database = await migratedDatabase();
    const visitors = {
      findViewer: () => Promise.resolve(viewer),
      noteAccess: (_: unknown, { name }: Viewer, organization: string) => void seen.push(`${name} ${organization}`),
    };
    console = await startConsole(database.url, { CONSOLE_DATABASE_CONNECTIONS: '2' }, undefined, visitors);
    await storeEvents(database.db, { automationId: automation, executionId: 'run 1' });
    await storeEvents(database.db, { organization: 'globex', automationId: automation, executionId: 'secret run' });
    viewer = ada;
    // Opens the connections that the suite keeps.
    await Promise.all(screens.map((path) => get(path)));
  });
  beforeEach(() => {
    viewer = ada;
  });
  afterEach(() => console.client.close());
  after(async () => {
    await console.stop();
    await database[Symbol.asyncDispose]();
  });

  const get = (path: string, headers: Record<string, string> = {}) =>
    console.client.send({ path, headers: { token: undefined, accept: 'text/html', ...headers } });

  /** Decoding a text would leave out the mark of its encoding. */
  const firstBytes = async (path: string): Promise<string> => {
    const headers = { accept: 'text/html', 'x-forwarded-proto': 'https' };
    const sent = request({ port: console.port, path, headers, agent: false }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return (await buffer(answer)).toString('hex', 0, 3);
  };

  for (const path of screens) {
    it(`are for viewers who are logged in: ${path}`, async () => {
      expect((await get(path)).status).to.equal(200);
      expect((await get(`${path}/`)).status).to.equal(200);
      viewer = nobody;
      const answer = await get(`${path}?q=a`);
      expect(answer.status).to.equal(302);
      expect(answer.headers.location).to.equal(`/login?to=${encodeURIComponent(`${path}?q=a`)}`);
      expect((await get(path, { token: readToken() })).status).to.equal(302);
      expect((await get(path, { 'hx-request': 'true' })).status).to.equal(401);
      expect((await get(path, { accept: 'application/json' })).status).to.equal(401);
    });

    it(`show no byte of another organization: ${path}`, async () => {
      const foreign = await get(path.replace('acme', 'globex'));
      const unknown = await get(path.replace('acme', 'no-such'));
      expect(foreign.status).to.equal(404);
      expect(foreign.body).to.equal(unknown.body).and.to.not.contain('secret');
    });
  }

  it('show an execution whose id looks like another address', async () => {
    const ids = ['%2e', '%2E%2e', '...', '../x', ' x ', 'a/b', '\\'];
    await recordEvents(
      database.db,
      ids.map((executionId) => anEvent({ automationId: automation, executionId, description: `of (${executionId})` })),
    );
    for (const id of ids) {
      const { pathname } = new URL(`/o/acme/executions/${automation}/${encodeURIComponent(id)}`, 'https://a.example');
      const page = await get(pathname);
      expect(page.status, id).to.equal(200);
      expect(page.body).to.contain(`of (${id})`);
    }
  });

  it('say when the last event was sealed and who witnessed it, and give the proofs', async () => {
    const { db } = database;
    const page = `/o/acme/executions/${automation}/sealed`;
    const event = anEvent({ automationId: automation, executionId: 'sealed' });
    expect((await get(screens[1] ?? '')).body).to.not.contain('Last event sealed');
    await recordEvents(db, [event], withLeaves);
    // The log begins with its first checkpoint.
    expect((await get(page)).body).to.not.contain('Last event sealed');
    const early = await get(`/o/acme/proofs/${event.id}`);
    expect([early.status, early.body].join()).to.match(/^404,[^]*The log has no such event, or not yet/);
    await seal(db);
    await sql`update log_checkpoints set cosigned_by = '{witness.example}'`.execute(db);
    const { body } = await get(page);
    expect(body).to.match(/Last event sealed<[^]*? at the latest, witnessed by witness\.example</);
    const [, address = ''] = /href="([^"]*)" download>Download its proof/.exec(body) ?? [];
    const proof = await get(address);
    expect(proof.headers['content-disposition']).to.equal(`attachment; filename="${event.id}.tlog-proof"`);
    expect(readLeaf(readProof(proof.body).leaf).id).to.equal(event.id);
    expect(body.split(`href="${address}"`)).to.have.lengthOf(3);
    expect((await get(address.replace('acme', 'globex'))).status).to.equal(404);
    expect((await get('/o/acme/proofs/x')).status).to.equal(404);
  });

  it('say when the last event was sealed, also of an execution with more events than a page shows', async () => {
    const { db } = database;
    const events = Array.from({ length: 501 }, () => anEvent({ automationId: automation, executionId: 'long' }));
    await recordEvents(db, events, withLeaves);
    await seal(db);
    const later = anEvent({ automationId: automation, executionId: 'long', createdAt: Date.now() + 1_000 });
    await recordEvents(db, [later], withLeaves);
    const page = `/o/acme/executions/${automation}/long`;
    expect((await get(page)).body).to.match(/Last event sealed<[^]*?not yet/);
    await seal(db);
    const { body } = await get(page);
    expect(body).to.contain('Events 1 to 500 of 502');
    expect(/href="([^"]*)" download>Download its proof/.exec(body)?.[1]).to.equal(`/o/acme/proofs/${later.id}`);
  });

  it('compare a run with the one before: duration, kinds, and the first event that differs', async () => {
    const begin = Date.now() - 60_000;
    const runOf = (executionId: string, at: number, last: Partial<AcceptedEvent>, length = 600) =>
      recordEvents(database.db, [
        anEvent({ automationId: other, executionId, kind: 'START', createdAt: at }),
        ...Array.from({ length }, (_, step) =>
          anEvent({ automationId: other, executionId, description: `row ${at + step}`, createdAt: at + 1 + step }),
        ),
        anEvent({ automationId: other, executionId, createdAt: at + 1_000, ...last }),
        anEvent({ automationId: other, executionId, kind: 'END', createdAt: at + 2_000 }),
      ]);
    await runOf('first', begin, { description: 'all sent' });
    await runOf('second', begin + 10_000, { kind: 'ERROR', errorId: 'MAIL_1', errorDescription: 'no mail' });
    await runOf('third', begin + 20_000, { kind: 'ERROR', errorId: 'MAIL_1', errorDescription: 'no mail' });
    const show = async (run: string) =>
      (await get(`/o/acme/executions/${other}/${run}/compare`)).body.replaceAll(/\s+/g, ' ');
    expect((await get(`/o/acme/executions/${other}/second`)).body).to.include(`${other}/second/compare"`);
    const second = await show('second');
    expect(second).to.include('At event 602').and.to.include('all sent').and.to.include('no mail');
    expect(second).to.match(/>ERROR<.*?<td>0<\/td>\s*<td>1<\/td>\s*<td class="number">\+1</);
    expect(await show('third')).to.include('None: all their events are alike');
    expect((await get(`/o/acme/executions/${other}/first/compare`)).status).to.equal(404);
    expect((await get(`/o/acme/executions/${other}/third/compare?with=first`)).body).to.include('At event 602');
  });

  it('have every event of a long execution, on pages that lead forwards and backwards', async () => {
    const events = Array.from({ length: 1_203 }, (_, index) =>
      anEvent({
        automationId: automation,
        executionId: 'longer',
        createdAt: Date.now() - 1_300 + Math.floor(index / 3),
      }),
    );
    await recordEvents(database.db, events);
    const idsOf = (body: string): string[] => [...body.matchAll(/id="t-([^"]*)"/g)].map(([, id = '']) => id);
    const linkOf = (body: string, words: string): string | undefined =>
      new RegExp(`class="button" href="([^"#]*)#[^"]*"\\s*>${words}<`).exec(body)?.[1]?.replaceAll('&amp;', '&');
    const walk = async (from: string, words: string): Promise<string[]> => {
      const pages: string[] = [];
      for (let path: string | undefined = from; path !== undefined; path = linkOf(pages.at(-1) ?? '', words)) {
        pages.push((await get(path)).body);
      }
      return pages;
    };
    const first = `/o/acme/executions/${automation}/longer`;
    const forwards = await walk(first, 'Later');
    expect(forwards.map((body) => idsOf(body).length)).to.deep.equal([500, 500, 203]);
    expect(new Set(forwards.flatMap(idsOf))).to.deep.equal(new Set(events.map(({ id }) => id)));
    const backwards = await walk(linkOf(forwards[0] ?? '', 'Last') ?? '', 'Earlier');
    expect(backwards.map((body) => idsOf(body).length)).to.deep.equal([500, 500, 203]);
    expect(new Set(backwards.flatMap(idsOf)).size).to.equal(1_203);
    for (const wrong of ['after=x', 'around=2026-01-01T00:00:00Z', 'last=no', 'kind=ODD']) {
      expect((await get(`${first}?${wrong}`)).status, wrong).to.equal(400);
    }
  });

  it('give the events of a list as CSV that Excel reads, and none of another organization', async () => {
    const { body } = await get(`/o/acme/executions?automation_id=${automation}`);
    const [, address = ''] = /href="([^"]*)" download>Download CSV/.exec(body) ?? [];
    expect(address).to.equal(`/o/acme/events.csv?automation_id=${automation}&amp;bom=true`);
    const file = await get(address.replace('&amp;', '&'));
    expect(file.headers['content-disposition']).to.equal('attachment; filename="acme-events.csv"');
    expect(file.headers['content-type']).to.match(/^text\/csv; charset=utf-8/);
    expect(await firstBytes(address.replace('&amp;', '&'))).to.equal('efbbbf');
    expect(file.body).to.contain('run 1').and.to.not.contain('secret');
    expect(await firstBytes('/o/acme/events.csv?bom=false')).to.not.equal('efbbbf');
    expect((await get('/o/globex/events.csv')).status).to.equal(404);
    const refused = await get('/o/acme/events.csv?state=failed');
    expect([refused.status, refused.headers['content-disposition']]).to.deep.equal([400, undefined]);
    expect((await get('/o/acme/executions?state=failed')).body).to.not.contain('Download CSV');
  });

  it('tell when an event happened, and how much later it was accepted', async () => {
    const [createdAt, occurredAt] = [Date.now(), Date.now() - 3_600_000];
    const late = { automationId: automation, executionId: 'told late', createdAt, occurredAt };
    await recordEvents(database.db, [
      anEvent({ ...late, kind: 'START' }),
      anEvent({ ...late, kind: 'ERROR', errorId: 'E-LATE' }),
    ]);
    const happened = `<time datetime="${new Date(occurredAt).toISOString()}"`;
    const { body: page } = await get(`/o/acme/executions/${automation}/told%20late`);
    expect(page).to.match(new RegExp(`aria-label="First error"[^]*?${happened}[^]*?accepted 1 h later`));
    const { body: errors } = await get('/o/acme/errors');
    const [, row = ''] = errors.split('>E-LATE<');
    expect(row.split('</tr>')[0]?.split(happened)).to.have.lengthOf(3);
  });

  it('tell who looked at which organization', async () => {
    seen.length = 0;
    await get('/o/acme/executions');
    await get('/o/globex/executions');
    expect(seen).to.deep.equal(['ada acme']);
  });

  it('begin with the only organization of a viewer, or with a choice', async () => {
    expect((await get('/')).headers.location).to.equal('/o/acme/');
    viewer = { subject: 'eve', name: 'eve', organizations: ['acme', 'globex'] };
    const choice = await get('/');
    expect(choice.status).to.equal(200);
    expect(choice.body).to.contain('href="/o/acme/"').and.to.contain('href="/o/globex/"');
    viewer = { subject: 'new', name: 'new', organizations: [] };
    expect((await get('/')).body).to.contain('You may see no organization yet');
    // The login resolves `*` of staff to the organizations that there are.
    viewer = { subject: 'staff', name: 'staff', organizations: ['*'] };
    expect((await get('/o/globex/executions')).status).to.equal(404);
  });

  it('allow scripts and styles of their own address only', async () => {
    const policy = String((await get('/o/acme/executions')).headers['content-security-policy']);
    expect(policy).to.contain("default-src 'none'").and.to.contain("script-src 'self';");
    expect(policy).to.contain("frame-ancestors 'none'").and.to.not.contain('unsafe');
  });

  it('are compressed if the browser can', async () => {
    const [plain, compressed] = [await get('/o/acme/'), await get('/o/acme/', { 'accept-encoding': 'gzip' })];
    expect(plain.headers['content-encoding']).to.equal(undefined);
    expect(compressed.headers['content-encoding']).to.equal('gzip');
    expect(Number(compressed.headers['content-length'])).to.be.below(plain.body.length / 2);
  });

  it('have static files that never change, compressed if the browser can', async () => {
    const page = await get('/o/acme/executions');
    const files = [...page.body.matchAll(/(?:src|href)="(\/static\/[^"]+)"/g)].map(([, path]) => path ?? '');
    expect(files).to.have.length.above(4);
    for (const path of files) {
      const [plain, compressed] = [await get(path), await get(path, { 'accept-encoding': 'br' })];
      expect(plain.status).to.equal(200);
      expect(plain.headers['cache-control']).to.equal('public, max-age=31536000, immutable');
      expect(compressed.headers['content-encoding']).to.equal('br');
    }
    expect((await get('/static/console.css')).status).to.equal(404);
  });

  it('explain a wrong address, and show only problem documents to scripts', async () => {
    const wrong = await get('/o/acme/executions?state=odd&limit=0');
    expect(wrong.status).to.equal(400);
    expect(wrong.body).to.contain('must be one of running').and.to.contain('must be a whole number');
    expect((await get('/o/acme/executions?q=&state=')).status).to.equal(200);
    expect((await get('/o/acme/no-such-page')).body).to.match(/There is nothing here<[^]*The address is wrong/);
    const gone = await get(`/o/acme/executions/${automation}/gone`);
    expect(gone.body).to.contain('No such execution is recorded: it never reported, has expired, or was erased.');
    expect((await get('/v1/nothing')).headers['content-type']).to.equal('application/problem+json');
    expect((await get(`/o/acme/executions/${automation}/none`)).status).to.equal(404);
    expect((await get('/o/acme/executions/x/none')).status).to.equal(404);
    expect((await get(`/o/acme/executions/${automation}/%ff`)).status).to.equal(404);
  });

  it('say which events may be missing, and nothing of the time before the first one', async () => {
    const { db } = database;
    const ago = (minutes: number): number => Date.now() - minutes * 60_000;
    await recordEvents(db, [anEvent({ organization: 'initech', createdAt: ago(10) })]);
    viewer = { subject: 'ida', name: 'ida', organizations: ['initech'] };
    const gap = (from: number, until: number) => ({ from_at: new Date(from), until_at: new Date(until), reason: '' });
    await db
      .insertInto('record_gaps')
      .values([gap(0, ago(11)), gap(ago(5), ago(4))])
      .execute();
    const shown = async (): Promise<string[]> =>
      [...(await get('/o/initech/blindness')).body.matchAll(/<li>.*?<\/li>/gs)].map(String);
    const [only, ...others] = await until('the gap', async () => (await shown()).length > 0 && shown());
    expect(only).to.include('for 1 min');
    expect(others).to.deep.equal([]);
  });
});
