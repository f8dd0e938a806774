import { expect } from 'chai';
import { openCheckpoint } from '../../../internal/ledger/checkpoint.ts';
import { hashLeaf } from '../../../internal/ledger/hashing.ts';
import { readVerifierKey } from '../../../internal/ledger/keys.ts';
import { leafOf } from '../../../internal/ledger/leaf.ts';
import { readProof } from '../../../internal/ledger/proof-text.ts';
import { rootOfInclusion } from '../../../internal/ledger/proofs.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { readToken } from '../../support/console.ts';
import { anEvent } from '../../support/events.ts';
import { expectProblem } from '../../support/problem.ts';
import { suiteConsole } from '../../support/reading.ts';
import { publicLogKey, seal, withLeaves } from '../../support/sealed-ledger.ts';

describe('GET /v1/log/', () => {
  const suite = suiteConsole();
  const get = (path: string, organization = 'acme') =>
    suite.client.send({ path: `/v1/log/${path}`, headers: { token: readToken(organization) } });
  /** Stores events of `acme` and one of `globex`, and seals them. */
  async function storeSealed(count: number) {
    const events = Array.from({ length: count }, () => anEvent());
    const { db } = suite.database;
    await recordEvents(db, [...events, anEvent({ organization: 'globex' })], withLeaves);
    await seal(db);
    return events;
  }

  it('shows the newest checkpoint, which is never cached, to its organization', async () => {
    await storeSealed(3);
    const answer = await get('checkpoint');
    expect(answer.status, answer.body).to.equal(200);
    expect(answer.headers).to.include({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'private, no-cache',
    });
    const key = [readVerifierKey(publicLogKey)];
    expect(openCheckpoint(answer.body, 'acme', key)).to.include({ size: 3 });
    expect(openCheckpoint((await get('checkpoint', 'globex')).body, 'globex', key)).to.include({ size: 1 });
    expectProblem(await get('checkpoint', 'initech'), 404, 'not-found');
  });

  it('shows tiles of hashes and of leaves, full and partial', async () => {
    await storeSealed(300);
    for (const [path, length] of [
      ['tile/0/000', 8192],
      ['tile/0/001.p/44', 44 * 32],
      ['tile/0/001.p/7', 7 * 32],
      ['tile/0%2F001.p%2f7', 7 * 32],
      ['tile/1/000.p/1', 32],
      ['tile/entries/000', 256 * 51],
      ['tile/entries/001.p/44', 44 * 51],
    ] as const) {
      const answer = await get(path);
      expect(answer.status, path).to.equal(200);
      expect(answer.headers, path).to.include({
        'content-type': 'application/octet-stream',
        'cache-control': 'private, max-age=31536000, immutable',
        'content-length': String(length),
      });
    }
    for (const path of ['tile/0/001', 'tile/0/001.p/45', 'tile/0/002', 'tile/2/000.p/1', 'tile/0/1', 'tile/0/000/']) {
      expectProblem(await get(path), 404, 'not-found');
    }
    expectProblem(await get('tile/0/000', 'globex'), 404, 'not-found');
  });

  it('proves that an event is in the log, whether its tile is full or not', async () => {
    const events = await storeSealed(300);
    const { db } = suite.database;
    const rows = await db.selectFrom('events').selectAll().execute();
    for (const event of [events[0], events[150], events[299]]) {
      const answer = await get(`proof/${event?.id.toUpperCase()}`);
      expect(answer.status, answer.body).to.equal(200);
      const { leaf, index, hashes, checkpoint } = readProof(answer.body);
      const row = rows.find(({ id }) => id === event?.id);
      expect(row && leafOf(row)).to.deep.equal(leaf);
      const { size, root } = openCheckpoint(checkpoint, 'acme', [readVerifierKey(publicLogKey)]);
      expect(rootOfInclusion({ index, size }, hashLeaf(leaf), hashes)).to.deep.equal(root);
    }
  });

  it('has no proof for events of others, unknown or not sealed yet, nor for malformed ids', async () => {
    const [event] = await storeSealed(1);
    const later = anEvent();
    await recordEvents(suite.database.db, [later], withLeaves);
    expectProblem(await get(`proof/${event?.id}`, 'globex'), 404, 'not-found');
    expectProblem(await get(`proof/${anEvent().id}`), 404, 'not-found');
    expectProblem(await get(`proof/${later.id}`), 404, 'not-found');
    expectProblem(await get('proof/1'), 400, 'malformed-request');
    expectProblem(await get('checkpoint?x=1'), 400, 'malformed-request');
  });

  it('needs a read token of the organization', async () => {
    const [event] = await storeSealed(2);
    const paths = ['checkpoint', 'tile/0/000.p/2', 'tile/entries/000.p/2', `proof/${event?.id}`];
    for (const path of paths) {
      const ask = (token: string) => suite.client.send({ path: `/v1/log/${path}`, headers: { token } });
      expect((await ask(readToken('acme'))).status, path).to.equal(200);
      expect((await ask(readToken('acme').toUpperCase())).status, path).to.equal(401);
      expect((await ask('write-token-of-globex')).status, path).to.equal(403);
      const head = { path: `/v1/log/${path}`, method: 'HEAD', headers: { token: readToken('acme') } };
      expect(await suite.client.send(head), path).to.include({ status: 200, body: '' });
    }
  });

  it('keeps the proof when the event has expired', async () => {
    const [event] = await storeSealed(2);
    await suite.database.db.deleteFrom('events').execute();
    expect((await get(`proof/${event?.id}`)).status).to.equal(200);
  });
});
