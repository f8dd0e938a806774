import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { getProof } from '../../internal/record/log.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { sql } from '../../internal/store/sql.ts';
import { runAdmin } from '../support/admin.ts';
import { anEvent } from '../support/events.ts';
import { goProgram } from '../support/go-program.ts';
import { publicKeyOf, publicLogKey, seal, withLeaves } from '../support/sealed-log.ts';
import { cosignedAt, sealUntil } from '../support/sealing-worker.ts';
import { eachDatabase } from '../support/store.ts';

/** Starts the witness of transparency-dev. */
async function startWitness() {
  const program = spawn(await goProgram('witness', '.'), [publicKeyOf('acme')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [url] = (await once(createInterface(program.stdout), 'line')) as [string];
  return {
    url,
    publicKey: new URL(url).hash.slice(1),
    [Symbol.asyncDispose]: async () => {
      program.stdin.end();
      await once(program, 'close');
    },
  };
}

describe('a witness whose code is not ours', function suite() {
  // The first run builds it.
  this.timeout(600_000);
  const database = eachDatabase();
  const store = async (count: number) => {
    const events = Array.from({ length: count }, () => anEvent());
    await recordEvents(database.db, events, withLeaves);
    return events;
  };
  async function verifyProof(proof: string, witnessKey: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-witness-'));
    const file = join(folder, 'proof');
    await writeFile(file, proof);
    const keys = ['--public-key', publicLogKey, '--witness', witnessKey];
    const args = [...keys, '--organization', 'acme', '--proof', file];
    const { code, stdout, stderr } = await runAdmin(['verify', ...args]);
    await rm(folder, { recursive: true });
    return `${code} ${stdout}${stderr}`;
  }

  it('cosigns each checkpoint, also of a worker that has just started, and verify finds its signature', async () => {
    await using witness = await startWitness();
    let size = 0;
    for (const count of [5, 295, 1]) {
      const events = await store(count);
      size += count;
      await sealUntil(database.db, witness.url, cosignedAt(database.db, size));
      const proof = (await getProof(database.db, 'acme', events.at(-1)?.id ?? '')) ?? '';
      expect(await verifyProof(proof, witness.publicKey)).to.match(
        /^0 Nothing was lost, added or changed: event .*\nThe witness witness.example cosigned the checkpoint at \S+Z.\n/,
      );
    }
  });

  it('refuses a log that was rewound or rewritten', async () => {
    const { db } = database;
    await using witness = await startWitness();
    await store(5);
    await sealUntil(db, witness.url, cosignedAt(db, 5));
    await sql`truncate events, executions, running_executions, log_tails, log_trees, log_checkpoints`.execute(db);
    for (const [count, reason] of [
      // The worker signs nothing; then the test does, so that the worker asks with that.
      [3, /has cosigned 5 leaves, and this checkpoint has 0/],
      [2, /has cosigned (?:5 )?other leaves of the log/],
      [4, /has cosigned other leaves of the log/],
    ] as const) {
      await store(count);
      if (count < 3) await seal(db);
      const { log } = await sealUntil(db, witness.url, (metrics) =>
        /runledger_log_contradicted_logs\S* 1/.test(metrics),
      );
      expect(log).to.match(reason);
      const newest = await db.selectFrom('log_checkpoints').select('note').execute();
      expect(newest.map(({ note }) => note).join()).not.to.contain('witness.example');
      if (count === 2) await seal(db);
    }
  });
});
