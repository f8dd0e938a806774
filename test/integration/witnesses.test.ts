import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { readConfig } from '../../internal/config/read.ts';
import { createSealers, ledgerSettings } from '../../cmd/worker/sealer.ts';
import { signCheckpoint } from '../../internal/ledger/checkpoint.ts';
import { readWitnessKey } from '../../internal/ledger/keys.ts';
import type { GrownLog } from '../../internal/ledger/signer.ts';
import { findCosignature, splitNote } from '../../internal/ledger/note.ts';
import { getCheckpoint, getProof, getSignedCheckpoint } from '../../internal/record/ledger.ts';
import { addCosignature, listUncosigned } from '../../internal/store/ledger/cosignatures.ts';
import { extendLedgers } from '../../internal/store/ledger/extend-ledgers.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { signLedgers } from '../../internal/store/ledger/sign-ledgers.ts';
import { createTelemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { HttpWitness } from '../../internal/ledger/witness/http-witness.ts';
import { Witnesses } from '../../internal/ledger/witness/witnesses.ts';
import { anEvent } from '../support/events.ts';
import type { AdminRun } from '../support/admin.ts';
import { findingsOf, runVerify } from '../support/run-verify.ts';
import { headOf, logKey, logKeys, macKey, seal, withLeaves } from '../support/sealed-ledger.ts';
import { sealUntil } from '../support/sealing-worker.ts';
import { eachDatabase } from '../support/store.ts';
import { until } from '../support/until.ts';
import { startWitness, type WitnessServer } from '../support/witness-server.ts';

describe('witnesses of the log', () => {
  const database = eachDatabase();
  let witness: WitnessServer;
  beforeEach(async () => {
    witness = await startWitness();
  });
  afterEach(() => witness[Symbol.asyncDispose]());

  /** Those of a worker that has just started, and what became of each checkpoint. */
  function startWitnesses(...servers: WitnessServer[]) {
    const results: string[] = [];
    const { db } = database;
    const witnesses = new Witnesses(
      {
        listUncosigned: (names, organization) => listUncosigned(db, names, organization),
        addCosignature: (log, name, line) => addCosignature(db, log, name, line),
      },
      servers.map(({ url, publicKey }) => new HttpWitness(url, readWitnessKey(publicKey), 120_000)),
      ({ witness: name, error }) => void results.push(error instanceof Error ? error.message : name),
    );
    return { cosign: () => witnesses.cosign(), refused: () => witnesses.refused, results };
  }
  const grow = async (count: number): Promise<AcceptedEvent[]> => {
    const events = Array.from({ length: count }, () => anEvent());
    await recordEvents(database.db, events, withLeaves);
    await seal(database.db);
    return events;
  };
  /** The exit code of `verify --proof`, and what it says. */
  async function verifyProof(proof: string, ...servers: WitnessServer[]): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-witness-'));
    const file = join(folder, 'proof');
    await writeFile(file, proof);
    const keys = servers.flatMap(({ publicKey }) => ['--witness', publicKey]);
    const { code, stdout, stderr } = await runVerify('', ['--proof', file, ...keys]);
    await rm(folder, { recursive: true });
    return `${code} ${stdout}${stderr}`;
  }
  /** Who has cosigned the checkpoint that the console shows. */
  const cosigners = async (...servers: WitnessServer[]): Promise<string[]> => {
    const note = (await getCheckpoint(database.db, 'acme'))?.note ?? '';
    const { lines } = splitNote(note);
    return servers
      .filter(({ publicKey }) => findCosignature(note, lines, readWitnessKey(publicKey)) !== undefined)
      .map(({ name }) => name);
  };

  it('cosign each checkpoint, also after a restart, and it is shown with their lines', async () => {
    await using other = await startWitness('other.example');
    const first = startWitnesses(witness, other);
    await grow(5);
    await first.cosign();
    expect(await cosigners(witness, other)).to.deep.equal(['witness.example', 'other.example']);
    expect(await headOf(database.db)).to.include({ size: 5 });
    await first.cosign();
    await grow(300);
    await first.cosign();
    const [last] = await grow(1);
    await startWitnesses(witness, other).cosign();
    expect(await cosigners(witness, other)).to.have.lengthOf(2);
    expect(witness.statuses).to.deep.equal([200, 200, 409, 200]);
    await using third = await startWitness('third.example');
    const proof = (await getProof(database.db, 'acme', last?.id ?? '')) ?? '';
    expect(await verifyProof(proof, witness, other)).to.match(
      /^0 Nothing was lost, added or changed: event .*\nThe witness witness.example cosigned the checkpoint at \S+Z.\nThe witness other.example/,
    );
    expect(await verifyProof(proof, third)).to.match(
      /^1 Something was lost, added or changed: 1 finding\.\nThe witness third.example has not cosigned the checkpoint\.\n$/,
    );
    const [row] = await database.db.selectFrom('log_checkpoints').selectAll().execute();
    expect(row?.cosigned_by.sort()).to.deep.equal(['other.example', 'witness.example']);
  });

  it('are needed before a checkpoint is published, all of them or their quorum', async () => {
    const { db } = database;
    await using other = await startWitness('other.example');
    const names = [witness.name, other.name];
    const published = async (): Promise<number | undefined> => (await getCheckpoint(db, 'acme'))?.size;
    const signed = async (): Promise<number | undefined> => (await getSignedCheckpoint(db, 'acme'))?.size;
    const cosign = async (least: number, ...servers: WitnessServer[]): Promise<void> => {
      for (const log of await listUncosigned(db, names)) {
        for (const { name, url, publicKey } of servers) {
          const line = await new HttpWitness(url, readWitnessKey(publicKey)).cosign(log);
          await addCosignature(db, log, name, line, { names, least });
        }
      }
    };
    const growUnpublished = async (count: number): Promise<void> => {
      await recordEvents(
        db,
        Array.from({ length: count }, () => anEvent()),
        withLeaves,
      );
      await extendLedgers(db, [macKey], 1_000);
      const sign = ({ organization, head }: GrownLog) =>
        Promise.resolve({ note: signCheckpoint(organization, head, logKeys) });
      await signLedgers(db, [macKey], sign, { publishes: false });
    };
    await growUnpublished(5);
    expect([await published(), await signed()]).to.deep.equal([undefined, 5]);
    await cosign(2, witness);
    expect(await published()).to.equal(undefined);
    await cosign(2, other);
    expect(await published()).to.equal(5);
    await growUnpublished(3);
    expect([await published(), await signed()]).to.deep.equal([5, 8]);
    await cosign(1, witness);
    expect(await published()).to.equal(8);

    const keys = [witness, other].flatMap(({ publicKey }) => ['--witness', publicKey]);
    const live = (...args: string[]): Promise<AdminRun> => runVerify(database.url, [...keys, ...args]);
    expect(findingsOf(await live())).to.equal('The witness other.example has not cosigned the checkpoint.\n');
    expect((await live('--quorum', '1', '--max-age', '1')).stdout).to.match(
      /^Nothing was lost[^]*\nThe witness witness\.example cosigned the checkpoint at \S+Z\.\nThe witness other\.example has not cosigned the checkpoint; others suffice\.\n$/,
    );
  });

  it('show by their time that a log is old', async () => {
    witness.time = Date.now() - 3 * 3_600_000;
    await grow(5);
    await startWitnesses(witness).cosign();
    const args = ['--witness', witness.publicKey, '--max-age'];
    expect(await runVerify(database.url, [...args, '4'])).to.deep.include({ code: 0 });
    const old = await runVerify(database.url, [...args, '2']);
    expect(old.stdout).to.match(
      /^Not everything could be checked\.\nThe cosignatures are older than --max-age allows, since \S+Z: this may be an older state of the log\.\n/,
    );
    expect(old.code).to.equal(2);
  });

  it('get the newest checkpoint later if they were away, and nobody waits for them', async () => {
    witness.away = true;
    const { cosign, results } = startWitnesses(witness);
    await grow(5);
    await cosign();
    await cosign();
    expect(results).to.deep.equal(['the witness witness.example answered 503: away']);
    expect(witness.statuses).to.deep.equal([503]);
    expect(await headOf(database.db)).to.include({ size: 5 });
    witness.away = false;
    await startWitnesses(witness).cosign();
    expect(await cosigners(witness)).to.have.lengthOf(1);
  });

  it('refuse a log that was rewound or rewritten, and lies of theirs are not stored', async () => {
    const { db } = database;
    await grow(5);
    await startWitnesses(witness).cosign();
    for (const [count, reason] of [
      [3, /has cosigned 5 leaves, and this checkpoint has 3/],
      [2, /has cosigned 5 other leaves of the log/],
      [4, /has cosigned other leaves of the log/],
    ] as const) {
      if (count === 3)
        for (const table of ['log_trees', 'log_tails', 'log_checkpoints'] as const)
          await db.deleteFrom(table).execute();
      await grow(count);
      const { cosign, results } = startWitnesses(witness);
      await cosign();
      expect(results.join()).to.match(reason);
      expect(await cosigners(witness)).to.deep.equal([]);
    }
    await using liar = await startWitness('liar.example');
    liar.lies = true;
    const { cosign, results } = startWitnesses(liar);
    await cosign();
    expect(results).to.deep.equal(['the cosignature of liar.example is wrong']);
  });

  it('are asked before a new worker signs a log, so that an older database gets no checkpoint', async () => {
    const { db } = database;
    await grow(5);
    await startWitnesses(witness).cosign();
    for (const tables of [['log_trees', 'log_tails', 'log_checkpoints'], []] as const) {
      for (const table of tables) await db.deleteFrom(table).execute();
      // With a checkpoint of the older database, and without.
      if (tables.length === 0) await grow(1);
      await recordEvents(db, [anEvent(), anEvent(), anEvent({ organization: 'globex' })], withLeaves);
      const { log, metrics } = await sealUntil(db, String(witness.url), (text) =>
        /runledger_log_contradicted_logs\S* 1/.test(text),
      );
      expect(log).to.contain('the witness witness.example has cosigned 5 leaves, and this checkpoint has ');
      expect(metrics).to.match(/runledger_log_contradicted_logs\S* 1/);
      const sizes = await db.selectFrom('log_checkpoints').select(['organization', 'size']).execute();
      // What the test signed itself.
      const own = tables.length === 0 ? ['3'] : [];
      expect(sizes.filter(({ organization }) => organization === 'acme').map(({ size }) => size)).to.deep.equal(own);
    }
    expect(await headOf(db, 'globex')).to.include({ size: 2 });
  });

  it('that refuse one log, or do not know it yet, cosign the others', async () => {
    const { db } = database;
    await grow(5);
    await startWitnesses(witness).cosign();
    for (const table of ['log_trees', 'log_tails', 'log_checkpoints'] as const) await db.deleteFrom(table).execute();
    witness.unknown = 'bravo';
    await recordEvents(db, [anEvent({ organization: 'bravo' }), anEvent({ organization: 'zulu' })], withLeaves);
    await grow(3);
    const { cosign, refused } = startWitnesses(witness);
    await cosign();
    await cosign();
    const rows = await db.selectFrom('log_checkpoints').select(['organization', 'cosigned_by']).execute();
    expect(rows.filter((row) => row.cosigned_by.length > 0).map(({ organization }) => organization)).to.deep.equal([
      'zulu',
    ]);
    expect(refused()).to.deep.equal(['acme']);
    expect(witness.statuses.slice(1)).to.have.members([200, 404, 409]);
  });

  it('are those of LEDGER_WITNESSES of a worker', async () => {
    const { db } = database;
    const telemetry = createTelemetry('worker', 'silent');
    const config = readConfig(ledgerSettings, { LEDGER_KEY: logKey, LEDGER_WITNESSES: String(witness.url) });
    await recordEvents(db, [anEvent()], withLeaves);
    const sealer = createSealers(config, new Map([['first', db]]), telemetry).get('first');
    await sealer?.start();
    try {
      await until('the witness has cosigned', async () => {
        const [row] = await db.selectFrom('log_checkpoints').select('cosigned_by').execute();
        return row?.cosigned_by.includes(witness.name) === true;
      });
    } finally {
      await sealer?.stop();
    }
    expect(await telemetry.registry.metrics()).to.match(
      /runledger_log_cosignatures_total\{witness="witness.example"[^}]*\} 1/,
    );
  });
});
