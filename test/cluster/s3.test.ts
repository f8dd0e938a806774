import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { expect } from 'chai';
import { exportDays } from '../../internal/record/archive/export-days.ts';
import { folderOfDay, parseManifest, readManifestText } from '../../internal/record/archive/manifest.ts';
import type { Objects } from '../../internal/record/archive/objects.ts';
import { openS3 } from '../../internal/record/archive/s3.ts';
import { createQueries } from '../../internal/record/queries.ts';
import { Child, compileCache } from '../support/child.ts';
import { expectColdAsHot, patienceOfRuns } from '../support/cold-answers.ts';
import { failureOf } from '../support/failure.ts';
import { Forwarder } from '../support/forwarder.ts';
import { day } from '../support/maintenance-day.ts';
import { noon, storeEvents } from '../support/reading.ts';
import { S3Server } from '../support/s3-server.ts';
import { migratedDatabase } from '../support/store.ts';
import { until } from '../support/until.ts';

/** More than two parts of an upload. */
const [pieces, pieceSize] = [40, 1_024 * 1_024];

describe('an archive in S3', function suite() {
  // The first run builds the server.
  this.timeout(600_000);
  let server: S3Server;
  before(async () => {
    server = await S3Server.start();
  });
  after(() => server.stop());

  const clientConfig = (secretAccessKey = server.env.AWS_SECRET_ACCESS_KEY) => ({
    credentials: { accessKeyId: server.env.AWS_ACCESS_KEY_ID, secretAccessKey },
    endpoint: server.env.AWS_ENDPOINT_URL_S3,
    region: server.env.AWS_REGION,
  });
  const open = (secretAccessKey?: string): Objects & AsyncDisposable => {
    const objects = openS3('s3://record/archive', clientConfig(secretAccessKey));
    return { ...objects, [Symbol.asyncDispose]: () => Promise.resolve(objects.close()) };
  };

  it('gets what the command exports, once', async () => {
    await using database = await migratedDatabase();
    await storeEvents(database.db, {}, { createdAt: noon + day }, { organization: 'globex' });
    const env = { ...process.env, ...compileCache, ...server.env, DATABASE_URL: database.url };
    const args = ['cmd/admin/main.ts', 'export', 's3://record/archive'];
    const { stderr } = await promisify(execFile)(process.execPath, args, { env });
    expect(stderr).to.contain('s3://record/archive: wrote 3 days of organizations with 3 events');

    await using objects = open();
    const where = { organization: 'globex', day: noon - day / 2 };
    const folder = folderOfDay(where);
    expect((await objects.list(folder)).toSorted()).to.deep.equal([
      `${folder}events.parquet`,
      `${folder}events.parquet.manifest.json`,
    ]);
    const { sha256, rows } = parseManifest('', await readManifestText(objects, folder, 'events.parquet'));
    expect([sha256, rows]).to.deep.equal([await sha256Of(objects.read(`${folder}events.parquet`)), 1]);
    const { db } = database;
    const run = { db, record: createQueries(db), objects, format: 'parquet' as const, from: 0, to: Date.now() };
    expect(await exportDays({ ...run, recheckBefore: Infinity })).to.deep.equal({ written: 0, kept: 3, events: 0 });
  });

  it('has days that give the same answers as in Postgres, row for row', async () => {
    // The client of S3 takes them from the environment of its process.
    Object.assign(process.env, server.env);
    try {
      await expectColdAsHot((run) => `s3://record/cold-${run}`);
    } finally {
      for (const name of Object.keys(server.env)) delete process.env[name];
    }
  }).timeout(patienceOfRuns);

  it('lacks what lies beyond the end of an object: it is not the one that was written', async () => {
    await using objects = open();
    await objects.write('short', Readable.from([Buffer.from('short')]));
    expect(Buffer.from(await objects.readRange('short', 2, 5)).toString()).to.equal('ort');
    expect(await failureOf(objects.readRange('short', 100, 200))).to.have.property('name', 'NoSuchObject');
  });

  it('holds large objects whole or not at all', async () => {
    await using objects = open();
    const bytes = async function* bytes(failsAfter = pieces) {
      for (let piece = 0; piece < pieces; piece += 1) {
        if (piece === failsAfter) throw new Error('cut');
        yield Buffer.alloc(pieceSize, piece);
      }
    };
    await objects.write('large/whole', bytes());
    expect(await sha256Of(objects.read('large/whole'))).to.equal(await sha256Of(bytes()));
    expect(String(await failureOf(objects.write('large/cut', bytes(pieces - 1))))).to.equal('Error: cut');
    expect(await objects.list('large/')).to.deep.equal(['large/whole']);
    expect(await failureOf(sha256Of(objects.read('large/cut')))).to.have.property('name', 'NoSuchObject');
    expect(await objects.list('none/')).to.deep.equal([]);
  });

  for (const [signal, exitCode] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    it(`keeps no part of an upload after ${signal}`, async () => {
      await using database = await migratedDatabase();
      const description = 'x'.repeat(18_000);
      await storeEvents(database.db, ...Array.from({ length: 2_500 }, () => ({ description })));
      const { port, pathname } = new URL(database.url);
      await using forwarder = await Forwarder.start(Number(port));
      // Within the second page: the first one is more than two parts of an upload.
      const stalled = forwarder.stalledAfter(40_000_000);
      const DATABASE_URL = `postgres://postgres@127.0.0.1:${forwarder.port}${pathname}`;
      const env = { PATH: process.env['PATH'], ...server.env, DATABASE_URL };
      const args = ['cmd/admin/main.ts', 'export', `s3://record/${signal}`, '--format', 'ndjson'];
      const command = new Child(process.execPath, args, { env });
      await stalled;
      const client = new S3Client({ ...clientConfig(), forcePathStyle: true });
      const uploads = async (): Promise<number> => {
        const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: 'record' }));
        return Uploads.length;
      };
      await until('an upload is open', async () => (await uploads()) === 1);
      command.process.kill(signal);
      await until('no upload is open', async () => (await uploads()) === 0);
      client.destroy();
      forwarder.reset();
      expect(await command.exited, command.output.join('\n')).to.equal(exitCode);
      expect(command.output.at(-1)).to.equal(`export: stopped by ${signal}; the next run continues`);
    });
  }

  it('says what is wrong', async () => {
    await using objects = open('another secret');
    expect(String(await failureOf(objects.list('')))).to.contain('SignatureDoesNotMatch');
  });
});

async function sha256Of(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}
