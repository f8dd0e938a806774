import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectRetentionCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  PutObjectRetentionCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { expect } from 'chai';
import { getCheckpoint, getSeal, getSignedCheckpoint } from '../../internal/record/log.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { sql } from '../../internal/store/sql.ts';
import { runAdmin } from '../support/admin.ts';
import { anEvent } from '../support/events.ts';
import { failureOf } from '../support/failure.ts';
import { S3Server } from '../support/s3-server.ts';
import { publicLogKey, withLeaves } from '../support/sealed-log.ts';
import { cosignedAt, sealUntil } from '../support/sealing-worker.ts';
import { eachDatabase } from '../support/store.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const prefix = 'checkpoints/log.example.org%2Facme/';

describe('a witness in S3 with object lock', function suite() {
  // The first run builds the server.
  this.timeout(600_000);
  const database = eachDatabase();
  let server: S3Server;
  let s3: S3Client;
  before(async () => {
    server = await S3Server.start();
    // The worker and verify take them from the environment.
    Object.assign(process.env, server.env);
    s3 = new S3Client({ forcePathStyle: true });
  });
  after(async () => {
    for (const name of Object.keys(server.env)) delete process.env[name];
    s3.destroy();
    await server.stop();
  });

  async function createBucket(): Promise<string> {
    const Bucket = `witness-${crypto.randomUUID()}`;
    await s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    return Bucket;
  }
  async function store(count: number) {
    const events = Array.from({ length: count }, () => anEvent());
    await recordEvents(database.db, events, withLeaves);
    return events;
  }
  const sealTo = (bucket: string, done: Parameters<typeof sealUntil>[2]) =>
    sealUntil(database.db, `s3://${bucket}/checkpoints?days=30`, done);
  const kept = (size: number) => cosignedAt(database.db, size);
  async function verify(bucket: string): Promise<string> {
    const args = ['--public-key', publicLogKey, '--organization', 'acme', '--checkpoint', `s3://${bucket}/checkpoints`];
    const { code, stdout, stderr } = await runAdmin(['verify', ...args], { env: { DATABASE_URL: database.url } });
    return `${code} ${stdout}${stderr}`;
  }

  it('has each checkpoint, which nobody can change or delete before its date', async () => {
    const [Bucket, [event = anEvent()]] = [await createBucket(), await store(5)];
    const began = Date.now();
    const { metrics } = await sealTo(Bucket, kept(5));
    expect(metrics).to.match(
      new RegExp(`runledger_log_cosignatures_total\\{witness="s3://${Bucket}/checkpoints"[^}]*\\} 1`),
    );
    const { note } = (await getCheckpoint(database.db, 'acme')) ?? {};
    expect(note?.split('\n')).to.have.lengthOf(6);
    const seal = await getSeal(database.db, 'acme', event);
    expect(seal?.cosignedBy).to.deep.equal([`s3://${Bucket}/checkpoints`]);

    const { Versions: [{ Key, VersionId } = {}] = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket }));
    expect(Key).to.equal(`${prefix}999999999999995-5`);
    const version = { Bucket, Key, VersionId };
    const read = async () => (await s3.send(new GetObjectCommand(version))).Body?.transformToString();
    expect(await read()).to.equal(note);
    const { Retention: { Mode, RetainUntilDate } = {} } = await s3.send(new GetObjectRetentionCommand(version));
    expect(Mode).to.equal('COMPLIANCE');
    // S3 keeps seconds.
    expect(RetainUntilDate?.getTime()).to.be.within(began + 30 * dayMs - 1_000, Date.now() + 30 * dayMs);

    const shorter = { Mode: 'COMPLIANCE', RetainUntilDate: new Date(Date.now() + dayMs) } as const;
    for (const attack of [
      () => s3.send(new DeleteObjectCommand(version)),
      () => s3.send(new DeleteObjectCommand({ ...version, BypassGovernanceRetention: true })),
      () => s3.send(new PutObjectRetentionCommand({ ...version, Retention: shorter, BypassGovernanceRetention: true })),
    ]) {
      expect(await failureOf(attack()))
        .to.have.property('message')
        .that.matches(/WORM|locked|protected/i);
    }
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'another version' }));
    expect(await read()).to.equal(note);
  });

  it('refuses a log that was restored or rewritten, also after its checkpoints were hidden', async () => {
    const { db } = database;
    const Bucket = await createBucket();
    for (const size of [2, 5]) {
      await store(size === 2 ? 2 : 3);
      await sealTo(Bucket, kept(size));
    }
    expect(await verify(Bucket)).to.match(/^0 Nothing was lost, added or changed: 5 events of acme and 3 checkpoints/);
    const { Versions = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket }));
    for (const { Key } of Versions) await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    expect((await s3.send(new ListObjectsV2Command({ Bucket }))).KeyCount).to.equal(0);

    await sql`truncate events, executions, running_executions, log_tails, log_trees, log_checkpoints`.execute(db);
    for (const [count, reason] of [
      [3, 'it has 3 leaves, and 5 were signed'],
      [300, 'its first 5 leaves are not those that were signed'],
    ] as const) {
      await store(count);
      const { log } = await sealTo(Bucket, (metrics) => /runledger_log_failures_total\S* [1-9]/.test(metrics));
      expect(log).to.contain(reason);
    }
    expect(await getCheckpoint(db, 'acme')).to.equal(undefined);
    expect((await s3.send(new ListObjectVersionsCommand({ Bucket }))).Versions).to.have.lengthOf(2);

    // The owner of the key signs the other log without a witness.
    await sealTo(await createBucket(), kept(303));
    expect(await verify(Bucket)).to.match(
      /^1 Something was lost.*\nThe first 2 leaves of the log are not those that its checkpoint signed/,
    );
  });

  it('is not taken without object lock, which delays no signature', async () => {
    await store(1);
    const { log } = await sealTo('record', (metrics) =>
      /runledger_log_witness_failures_total\{witness="s3:\/\/record\/checkpoints"[^}]*\} 1/.test(metrics),
    );
    expect(log).to.contain('the bucket record has no object lock, so checkpoints could be deleted from it');
    expect(await getSignedCheckpoint(database.db, 'acme')).to.include({ size: 1 });
    expect(await getCheckpoint(database.db, 'acme'), 'published').to.equal(undefined);
    expect((await s3.send(new ListObjectsV2Command({ Bucket: 'record' }))).KeyCount).to.equal(0);
    expect(await verify('record')).to.equal(
      '2 Nothing could be checked.\nverify: The bucket s3://record/checkpoints has no checkpoint of the log of acme.\n',
    );
  });
});
