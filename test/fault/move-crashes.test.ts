import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { readVerifierKey } from '../../internal/ledger/keys.ts';
import { auditDatabase } from '../../internal/record/audit/audit-database.ts';
import type { MoveState } from '../../internal/store/organizations/move/fence.ts';
import { Child } from '../support/child.ts';
import { Random, seedOfRun } from '../support/fault/random.ts';
import { freePort } from '../support/free-port.ts';
import { startIngest, type RunningIngest } from '../support/pipeline.ts';
import { PostgresServer, query } from '../support/postgres-server.ts';
import { durable, RedisServer } from '../support/redis-server.ts';
import { RunledgerProcess } from '../support/runledger-process.ts';
import { logKey, publicLogKey } from '../support/sealed-ledger.ts';
import { Sender } from '../support/sender.ts';
import { migrate, openDatabase } from '../support/store.ts';
import { place, tokenNamesOrganization } from '../support/two-databases.ts';
import { until } from '../support/until.ts';

/** MOVES=100 is the whole: about 25 minutes on a machine of two cores. */
const moves = Number(process.env['MOVES'] ?? 4);

/** Longest wait, in ms: for a test that hangs. */
const patience = 120_000;

/** A stage takes about as long, in ms: strikes come at any time of it. */
const stageMs = 800;

const victims = ['command', 'worker', 'source', 'target'] as const;
type Victim = (typeof victims)[number];

const stages = ['before its begin', 'copying', 'closed', 'copied', 'after its end'] as const;

interface Row {
  description: string;
  total: number;
}

describe('moves of organizations under load, each struck once, to a database where another one reports', function () {
  this.timeout(120_000 + moves * 120_000);
  const seed = seedOfRun();
  const random = new Random(seed);
  const stack = new AsyncDisposableStack();
  let source: PostgresServer;
  let target: PostgresServer;
  let settings: Record<string, string>;
  let worker: RunledgerProcess | undefined;
  let ingest: RunningIngest;

  before(async () => {
    const postgres = async () => stack.adopt(await PostgresServer.start(), (server) => server.stop());
    const redis = stack.adopt(await RedisServer.start(durable), (server) => server.stop());
    [source, target] = await Promise.all([postgres(), postgres()]);
    await Promise.all([source, target].map((server) => migrate(server.url())));
    await using map = openDatabase(source.url());
    await place(map, 'resident', 'eu');
    const databases = { DATABASE_URL: source.url(), DATABASE_URLS: `eu=${target.url()}` };
    settings = { ...databases, REDIS_URL: redis.url, LOG_LEVEL: 'warn' };
    const controller = new RunledgerProcess('controller', { ...settings, ...(await ownSettings()) });
    stack.defer(async () => void (await controller.child.kill('SIGKILL')));
    stack.defer(async () => void (await worker?.child.kill('SIGKILL')));
    await startWorker();
    ingest = stack.use(await startIngest({ REDIS_URL: redis.url }, tokenNamesOrganization));
  });
  after(() => stack.disposeAsync());

  const ownSettings = async () => ({ OPS_PORT: String(await freePort()), LISTEN_ADDRESS: '127.0.0.1' });

  async function startWorker(): Promise<void> {
    const own = { LEDGER_KEY: logKey, JOB_LOCK_MS: '2000', ...(await ownSettings()) };
    worker = new RunledgerProcess('worker', { ...settings, ...own });
    await worker.ready(patience);
  }

  const startMove = (organization: string): Child =>
    new Child(process.execPath, ['cmd/admin/main.ts', 'move', '--organization', organization, '--to', 'eu'], {
      env: { PATH: process.env['PATH'], ...settings },
    });

  /** How far a move has come, by the note in the source: an index of `stages`. */
  async function stageOf(organization: string): Promise<number> {
    const noted = `select * from moved_organizations where organization = $1`;
    const [state] = await query<MoveState>(source.url(), noted, [organization]);
    if (state === undefined) return 0;
    if (!state.under_way) return 4;
    if (state.copied) return 3;
    return state.closed ? 2 : 1;
  }

  async function strike(victim: Victim, command: Child): Promise<void> {
    if (victim === 'command') await command.kill('SIGKILL');
    else if (victim === 'worker') {
      await worker?.child.kill('SIGKILL');
      await startWorker();
    } else {
      const postgres = victim === 'source' ? source : target;
      await postgres.kill('SIGKILL');
      await postgres.startAgain();
    }
  }

  /** The first two of a run strike the command in its two long stages, the others in any stage. */
  async function moveStruck(organization: string, turn: number): Promise<string> {
    const [victim, stage, delayMs] =
      turn < 2 ? ['command' as const, turn + 1, 0] : [random.pick(victims), random.int(0, 3), random.int(0, stageMs)];
    const command = startMove(organization);
    await until('the stage', async () => (await stageOf(organization)) >= stage, patience, 5);
    await sleep(delayMs);
    const struckIn = stages[await stageOf(organization)];
    await strike(victim, command);
    await until('the move ends', async () => (await command.exited) === 0 || (await repeat(organization)), patience);
    return `${victim} ${struckIn}`;
  }

  async function repeat(organization: string): Promise<boolean> {
    return (await startMove(organization).exited) === 0;
  }

  /** Each accepted event is in the target once, is counted, and has one leaf in the log. */
  async function check(organization: string, accepted: readonly string[]): Promise<void> {
    const rowsOf = (server: PostgresServer) => {
      const ofEvents = `select description, count(*)::integer as total from events where organization = $1 group by 1`;
      return query<Row>(server.url(), ofEvents, [organization]);
    };
    const stored = await until(
      `${organization} is stored`,
      async () => {
        const rows = await rowsOf(target);
        const present = new Set(rows.map(({ description }) => description));
        return accepted.every((mark) => present.has(mark)) && rows;
      },
      patience,
    );
    expect(stored.filter(({ total }) => total > 1)).to.deep.equal([]);
    const present = new Set(stored.map(({ description }) => description));
    expect((await rowsOf(source)).filter(({ description }) => !present.has(description))).to.deep.equal([]);
    const counts = `select sum(event_count)::integer as counted, count(*)::integer as runs,
        (select count(*)::integer from running_executions where organization = $1) as running
      from executions where organization = $1`;
    const [counted] = await query(target.url(), counts, [organization]);
    expect(counted).to.deep.equal({ counted: stored.length, runs: 50, running: 50 });

    const unsealed = 'select from log_segments where organization = $1';
    const isSealed = async () => (await query(target.url(), unsealed, [organization])).length === 0;
    await until('all is sealed', isSealed, patience);
    await using db = openDatabase(target.url(), 0);
    const keys = [readVerifierKey(publicLogKey)];
    const report = await auditDatabase(db, { organization, keys, kept: [] });
    expect(report.findings).to.deep.equal([]);
    expect(report).to.include({ absent: 0, uncovered: 0, leaves: stored.length });
  }

  it(`${moves} moves lose, double and miscount nothing; each event has one leaf, SEED=${seed}`, async () => {
    const struck: string[] = [];
    const sendAs = (token: string) => (events: object[]) =>
      ingest.client.register(events, { token }, undefined, '/v1/register/bulk/');
    await using resident = new Sender(100, sendAs('resident'));
    for (let turn = 0; turn < moves; turn += 1) {
      const organization = `acme-${turn}`;
      await using sender = new Sender(1_000, sendAs(organization));
      const more = async (events: number): Promise<void> => {
        const before = sender.accepted.length;
        await until('more receipts', () => sender.accepted.length > before + events, patience);
      };
      await more(1_500);
      struck.push(await moveStruck(organization, turn));
      await more(500);
      await sender.stop();
      await check(organization, sender.accepted);
    }
    await resident.stop();
    await check('resident', resident.accepted);
    console.log(
      `      struck: ${Object.entries(Object.groupBy(struck, (each) => each))
        .map(([each, all]) => `${each} ${all?.length}`)
        .join(', ')}`,
    );
  });
});
