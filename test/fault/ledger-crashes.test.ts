import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Client } from 'pg';
import { auditDatabase } from '../../internal/record/audit/audit-database.ts';
import { openCheckpoint, type TreeHead } from '../../internal/ledger/checkpoint.ts';
import { readVerifierKey } from '../../internal/ledger/keys.ts';
import { advisoryLocks } from '../../internal/store/advisory-locks.ts';
import { flawless } from '../support/fault/audit.ts';
import { Random, seedOfRun } from '../support/fault/random.ts';
import { sharedSystem } from '../support/fault/shared-system.ts';
import type { SlotName, System } from '../support/fault/system.ts';
import { organization } from '../support/fault/tokens.ts';
import { publicLogKey } from '../support/sealed-ledger.ts';
import { openDatabase } from '../support/store.ts';
import { until } from '../support/until.ts';

/** CRASHES=100 is the whole: about eight minutes on a busy machine of two cores. */
const crashes = Number(process.env['CRASHES'] ?? 6);

const workers: readonly SlotName[] = ['worker-1', 'worker-2'];
const keys = [readVerifierKey(publicLogKey)];

describe('the log while its sealer is killed', function () {
  this.timeout(120_000 + crashes * 30_000);
  const seed = seedOfRun();
  const random = new Random(seed);
  let system: System;
  let watch: Client;

  before(async () => {
    system = await sharedSystem();
    watch = await system.connect();
  });

  after(() => watch.end());

  /** Kills workers, Postgres or both while a worker extends the log, or when it has just signed. */
  async function strike(turn: number): Promise<void> {
    if (turn % 2 === 0) {
      await until('a worker seals', () => isSealing(watch), 60_000, 0);
      await sleep(random.int(0, 30));
    } else {
      const before = await remembered(system);
      await until('a worker signs', async () => (await remembered(system)) !== before, 60_000, 0);
    }
    if (turn % 3 !== 1) for (const slot of workers) system.pod(slot).signal('SIGKILL');
    if (turn % 3 !== 0) {
      await system.postgres.kill('SIGKILL');
      await system.postgres.startAgain();
      watch = await system.connect();
    }
    await until('Postgres ends the turn', async () => !(await isSealing(watch)), 60_000);
  }

  it(`${crashes} times: no fork, each event has one leaf, each leaf its event, SEED=${seed}`, async () => {
    const kept: TreeHead[] = [];
    const { crashes: ended } = system;
    const load = system.startLoad({ rate: 100, seed });
    await until('a checkpoint', async () => (await newest(system)) !== undefined, 60_000);
    // From here on no leaf is added later, as to events that were stored before there was a log.
    for (let turn = 0; turn < crashes; turn += 1) {
      await strike(turn);
      kept.push(...(await heads(system)));
    }
    const before = Math.max(...kept.map(({ size }) => size));
    await until('a checkpoint after the last crash', async () => ((await newest(system))?.size ?? 0) > before, 60_000);
    kept.push(...(await heads(system)));
    const { found } = await system.settle(load);
    expect(found, found.findings.join('\n')).to.include(flawless);

    expect(system.crashes).to.equal(ended);

    await using db = openDatabase(system.postgres.url('runledger'), 0);
    const report = await auditDatabase(db, { organization, keys, kept });
    expect(report.findings).to.deep.equal([]);
    expect(report).to.include({ absent: 0, uncovered: 0 });
    expect(report.compared).to.be.at.least(report.leaves);
    const sizes = new Set(kept.map(({ size }) => size)).size;
    expect(sizes).to.be.above(crashes / 2);
    console.log(`      ${report.compared} events, ${report.leaves} sealed; ${sizes} checkpoints kept`);
  });
});

/** True while a worker extends or signs the log. */
async function isSealing(client: Client): Promise<boolean> {
  const { rows } = await client.query(
    `select from pg_locks where locktype = 'advisory' and granted
      and (classid::bigint << 32 | objid::bigint) = ${advisoryLocks.seal}`,
  );
  return rows.length > 0;
}

/** The newest checkpoint of the database. */
async function newest(system: System): Promise<TreeHead | undefined> {
  const rows = await system.query<{ note: string }>('select note from log_checkpoints order by size desc limit 1');
  return rows.map(({ note }) => openCheckpoint(note, organization, keys))[0];
}

/** The last checkpoint of the folder, which has it before the database has it. */
async function remembered({ witnessFolder }: System): Promise<string> {
  const file = (await readdir(witnessFolder)).find((name) => !name.endsWith('.next')) ?? '';
  return readFile(join(witnessFolder, file), 'utf8');
}

/** The last heads of the folder and of the database. */
async function heads(system: System): Promise<TreeHead[]> {
  const last = await newest(system);
  return [openCheckpoint(await remembered(system), organization, keys), ...(last === undefined ? [] : [last])];
}
