import { expect } from 'chai';
import { isSignedByAll, openCheckpoint } from '../../internal/ledger/checkpoint.ts';
import { hashLeaf } from '../../internal/ledger/hashing.ts';
import { createSigningKey, readSigningKeys, readVerifierKey, verifierKeyText } from '../../internal/ledger/keys.ts';
import { readLeaf } from '../../internal/ledger/leaf.ts';
import { readProof } from '../../internal/ledger/proof-text.ts';
import { rootOfInclusion } from '../../internal/ledger/proofs.ts';
import { HeadSigner, SignedHeads } from '../../internal/ledger/signer.ts';
import { JobDecoder } from '../../internal/queue/job/job-decoder.ts';
import { encodeJob } from '../../internal/queue/job/job-encoder.ts';
import { getCheckpoint } from '../../internal/record/ledger.ts';
import { extendLedgers } from '../../internal/store/ledger/extend-ledgers.ts';
import { sealOlder } from '../../internal/store/ledger/seal-older.ts';
import { signLedgers } from '../../internal/store/ledger/sign-ledgers.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { sealerMetrics } from '../../internal/worker/sealer-metrics.ts';
import { createTelemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { sealerLimits } from '../../internal/worker/seal-schedule.ts';
import { Sealer } from '../../internal/worker/sealer.ts';
import { startConsole } from '../support/console.ts';
import { anEvent, eventBody } from '../support/events.ts';
import { startIngest, startWorker } from '../support/pipeline.ts';
import { figure } from '../support/rows.ts';
import { checkLog } from '../support/check-ledger.ts';
import { runVerify } from '../support/run-verify.ts';
import { idsInLog, logKey, logKeys, macKey, publicLogKey, withLeaves } from '../support/sealed-ledger.ts';
import { withQueue } from '../support/queue.ts';
import { emptyRedis } from '../support/servers.ts';
import { migratedDatabase, migratedUrl } from '../support/store.ts';
import { until } from '../support/until.ts';

describe('the log, from the request to the proof', () => {
  it('proves an event by the Receipt-Id of its 201', async () => {
    const [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
    const settings = { REDIS_URL: redis.url, DATABASE_URL: database };
    await using worker = await startWorker({ ...settings, LEDGER_KEY: logKey });
    await using ingest = await startIngest(settings);
    await using console = await startConsole(database);
    const answer = await ingest.client.register(eventBody());
    expect(answer.status, answer.body).to.equal(201);
    const id = String(answer.headers['receipt-id']);

    const proof = await until('the proof', async () => {
      const found = await console.client.send({ path: `/v1/log/proof/${id}` });
      return found.status === 200 ? readProof(found.body) : undefined;
    });
    expect(readLeaf(proof.leaf).id).to.equal(id);
    const { size, root } = openCheckpoint(proof.checkpoint, 'acme', [readVerifierKey(publicLogKey)]);
    expect(rootOfInclusion({ index: proof.index, size }, hashLeaf(proof.leaf), proof.hashes)).to.deep.equal(root);
    expect(await figure(worker.telemetry.registry, 'runledger_log_sealed_events_total')).to.equal(1);
    expect(await figure(worker.telemetry.registry, 'runledger_log_failures_total')).to.equal(0);
  });

  const changes = { 'a text': { description: 'paid 99' }, 'the digest': { seal: '*'.repeat(64) } };
  for (const [what, change] of Object.entries(changes)) {
    it(`names an event if ${what} was changed in the queue, by the digest that ingest made`, async () => {
      const [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
      const settings = { REDIS_URL: redis.url, DATABASE_URL: database };
      await using ingest = await startIngest({ ...settings, LEDGER_DIGESTS: 'true' });
      const answer = await ingest.client.register(eventBody({ description: 'paid 10' }));
      const id = String(answer.headers['receipt-id']);

      const decoder = new JobDecoder();
      await withQueue(redis.url, async (queue) => {
        const job = await queue.getJob('1');
        const events = await decoder.open(JSON.stringify(job?.data)).events();
        await job?.updateData(encodeJob(events.map((event) => ({ ...event, ...change }))));
      });
      decoder.close();

      await using worker = await startWorker({ ...settings, LEDGER_KEY: logKey });
      await until('the checkpoint', async () => {
        const signed = await figure(worker.telemetry.registry, 'runledger_log_checkpoints_total');
        return signed === 1 ? true : undefined;
      });
      const { code, stdout } = await runVerify(database, []);
      expect(stdout).to.match(new RegExp(`\nEvent ${id} is not the one that the log has: it was changed.\n`));
      expect(code).to.equal(1);
    });
  }

  it('gets its newest checkpoint signed with a new key, too, without a new event', async () => {
    const [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
    const settings = { REDIS_URL: redis.url, DATABASE_URL: database };
    await using ingest = await startIngest(settings);
    await using console = await startConsole(database);
    expect((await ingest.client.register(eventBody())).status).to.equal(201);
    const newKey = createSigningKey('log.example.org');
    const publicKeys = [logKey, newKey].map((key) =>
      readSigningKeys(key)
        .map((one) => verifierKeyText(one))
        .join(),
    );
    for (const [at, key] of [logKey, `${newKey} ${logKey}`, newKey].entries()) {
      await using _ = await startWorker({ ...settings, LEDGER_KEY: key });
      const expected = publicKeys.slice(Math.max(0, at - 1), at + 1).map((text) => readVerifierKey(text));
      await until(`the checkpoint of step ${at}`, async () => {
        const { status, body } = await console.client.send({ path: '/v1/log/checkpoint' });
        return status === 200 && isSignedByAll(body, 'acme', expected) ? true : undefined;
      });
    }
  });

  it('has each event once while several workers store and seal', async () => {
    await using database = await migratedDatabase();
    const { db } = database;
    const { logger, registry } = createTelemetry('worker', 'silent');
    const metrics = sealerMetrics(registry);
    const limits = { ...sealerLimits, intervalMs: 5, events: 50 };
    const sealers = [1, 2].map(() => {
      const signer = new HeadSigner(logKeys, [new SignedHeads()]);
      const store = {
        extendLedgers: (mostLeaves: number) => extendLedgers(db, [macKey], mostLeaves),
        signLedgers: () => signLedgers(db, [macKey], (log) => signer.sign(log)),
        cosign: () => Promise.resolve([]),
        retryRefused: () => Promise.resolve(),
      };
      return new Sealer(store, limits, metrics, logger);
    });
    try {
      const events = Array.from({ length: 1_200 }, () => anEvent());
      const batches = Array.from({ length: 60 }, (_, at) => events.slice(at * 20, at * 20 + 20));
      // Twenty were stored without a log, and sealed while the others come.
      for (const batch of batches.splice(0, 20)) await recordEvents(db, batch);
      for (const sealer of sealers) await sealer.start();
      const older = { organization: 'acme', by: 'ana', reason: 'before the log', most: 1_200, pageSize: 30 };
      const sealing = sealOlder(db, macKey, older);
      await Promise.all(batches.map((batch) => recordEvents(db, batch, withLeaves)));
      expect(await sealing).to.include({ added: 400 });
      const ids = events.map(({ id }) => id).sort();
      await until('all are sealed', async () => {
        const checkpoint = await getCheckpoint(db, 'acme');
        return checkpoint !== undefined && checkpoint.size > ids.length;
      });
      const [act] = await db.selectFrom('log_acts').select('id').execute();
      expect((await idsInLog(db)).sort()).to.deep.equal([...ids, act?.id ?? ''].sort());
      await checkLog(db, 'acme');
      expect(await figure(registry, 'runledger_log_failures_total')).to.equal(0);
    } finally {
      for (const sealer of sealers) await sealer.stop();
    }
  });
});
