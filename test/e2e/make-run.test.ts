import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { eventKinds } from '../../internal/event/schema.ts';
import { executionsOf, type Execution } from '../support/outcome-oracle.ts';
import { openEmbedded } from '../../internal/store/embedded.ts';
import { ApiClient } from '../support/api-client.ts';
import { runnablePages } from '../support/document-blocks.ts';
import { DocumentShell } from '../support/document-shell.ts';
import { failureOf } from '../support/failure.ts';
import { freePort } from '../support/free-port.ts';
import { MakeRun } from '../support/make-run.ts';
import { storedEvents as eventsIn, storedExecutions } from '../support/store.ts';
import { until } from '../support/until.ts';

const clients = 100;
const events = 2_000;
const executions = 400;

/** All tests share a folder, because the first start in a folder takes seconds. */
describe('make run', function suite() {
  this.timeout(120_000);
  let run: MakeRun;
  before(async () => {
    run = await MakeRun.create();
  });
  after(() => run.remove());

  it('stops when it is interrupted while it starts, and leaves nothing', async () => {
    const child = run.spawn();
    const redis = join(run.folder, 'redis.sock');
    await until('a Redis on its way up', () => existsSync(redis));
    process.kill(-(child.process.pid ?? 0), 'SIGINT');
    await child.exited;
    expect(child.output.join('\n')).to.not.match(/^ready/m);
    expect(leftovers(run.folder)).to.equal('');
  });

  for (const [setting, address, problem] of [
    ['REDIS_URL', 'redis://127.0.0.1', /could not start: REDIS_URL: Redis does not answer/],
    ['DATABASE_URL', 'postgres://postgres@127.0.0.1', /could not start: DATABASE_URL: .*ECONNREFUSED/],
  ] as const) {
    it(`names the server of yours that does not answer: ${setting}`, async () => {
      const child = run.spawn({ [setting]: `${address}:${await freePort()}/0` });
      expect(await child.exited).to.not.equal(0);
      expect(child.output.join('\n')).to.match(problem);
    });
  }

  for (const setting of ['HTTPS_PORT', 'CONSOLE_PORT']) {
    it(`says which port is taken: ${setting}`, async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      try {
        const { port } = other.address() as AddressInfo;
        const child = run.spawn({ [setting]: String(port) });
        expect(await child.exited).to.not.equal(0);
        expect(child.output.join('\n')).to.match(new RegExp(`${setting} ${port} is already in use`));
      } finally {
        other.close();
        await once(other, 'close');
      }
    });
  }

  /** Each begins while it runs. */
  describe('once it runs, in the folder of the starts that failed', () => {
    before(() => run.start({ READ_RATE: '1000' }));
    // After a test that has failed.
    beforeEach(async () => {
      if (!run.isRunning) await run.start({ READ_RATE: '1000' });
    });

    for (const [page, blocks] of runnablePages()) {
      it(`runs the commands of ${page} in order, with the answers that it shows`, async () => {
        const shell = await DocumentShell.open(run);
        try {
          const answers: unknown[] = [];
          for (const { language, content } of blocks) {
            if (language === 'sh') answers.push(...(await shell.run(content)).filter(isObject).map(fieldsOf));
            else expect(answers, JSON.stringify(answers)).to.deep.include(fieldsOf(JSON.parse(content)));
          }
        } finally {
          await shell.close();
        }
      });
    }

    it('answers plain HTTP with 301 to its HTTPS address, and stores nothing of it', async () => {
      const before = await storedEvents(run);
      const plain = new ApiClient(`http://localhost:${run.ports.http}`);
      try {
        const answer = await plain.register({ automation_id: randomUUID(), execution_id: 'x', event: 'START' });
        expect(answer.status).to.equal(301);
        expect(answer.headers.location).to.equal(`https://localhost:${run.ports.https}/v1/register/`);
        expect(await storedEvents(run)).to.equal(before);
      } finally {
        plain.close();
      }
    });

    it('listens on this machine only, and on the network with LISTEN_ADDRESS', async () => {
      expect(run.output.join('\n')).to.include('Only this machine can connect.');
      expect(await reachable(run)).to.deep.equal([false, false, false, false]);
      await run.interrupt();

      await run.start({ LISTEN_ADDRESS: '0.0.0.0' });
      expect(run.output.join('\n')).to.include('Every port is open to the network.');
      expect(await reachable(run)).to.deep.equal([true, true, true, true]);
    });

    it('refuses a data folder that is in use, and takes it over after a kill', async () => {
      const before = await storedEvents(run);
      const second = run.spawn({ PORT: '0', HTTPS_PORT: '0', CONSOLE_PORT: '0', OPS_PORT: '0' });
      await second.exited;
      expect(second.output.join('\n')).to.include(`another Runledger runs on ${run.folder}`);
      const client = await run.client();
      try {
        const event = { automation_id: randomUUID(), execution_id: 'x', event: 'START' };
        expect((await client.register(event)).status).to.equal(201);
      } finally {
        client.close();
      }
      await run.interrupt('SIGKILL');

      await run.start({ READ_RATE: '1000' });
      // At the worst the killed process had taken the job: its lock must run out first.
      await until('the event', async () => (await storedEvents(run)) === before + 1, 60_000);
    });

    it(`takes ${events} events of ${executions} executions from ${clients} clients, each once, and keeps them`, async () => {
      const before = await storedEvents(run);
      const { automation, told, refused } = await report(run);
      expect(refused).to.deep.equal([]);
      await until('all events in the database', async () => (await storedEvents(run)) === before + events, 60_000);
      await run.interrupt();
      expect(leftovers(run.folder)).to.equal('');

      await run.start();
      expect(await storedEvents(run), 'after a restart').to.equal(before + events);
      await run.interrupt();

      const stored = await readStore(run.folder);
      const found = stored.events.filter(({ automationId }) => automationId === automation);
      expect(found.map(describeEvent).sort()).to.deep.equal(told.sort());
      expect(stored.executions).to.have.deep.members([...executionsOf(stored.events).values()]);
    });
  });
});

/**
 * Sends the events from many clients at once, in no particular order; gives back what each 201
 * said.
 */
async function report(run: MakeRun): Promise<{ automation: string; told: string[]; refused: string[] }> {
  const automation = randomUUID();
  const client = await run.client();
  const told: string[] = [];
  const refused: string[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < events) {
      const number = next;
      next += 1;
      const kind = eventKinds[number % 7 === 6 ? 3 : Math.floor(number / executions) % eventKinds.length] ?? 'EVENT';
      const event = {
        automation_id: automation,
        execution_id: `run-${number % executions}`,
        event: kind,
        description: `event ${number}`,
      };
      const key = { 'idempotency-key': randomUUID() };
      // On a busy machine the one process may need longer than a caller waits: 503, and no event.
      let answer = await client.register(event, key);
      while (answer.status === 503) answer = await client.register(event, key);
      if (answer.status !== 201) refused.push(`${answer.status} ${answer.body}`);
      else {
        const { execution_id, type_of_event, description, created_at } = answer.json<Record<string, string>>();
        told.push([execution_id, type_of_event, description, created_at].join(' '));
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: clients }, worker));
  } finally {
    client.close();
  }
  return { automation, told, refused };
}

function describeEvent(event: AcceptedEvent): string {
  return [event.executionId, event.kind, event.description, new Date(event.createdAt).toISOString()].join(' ');
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** The names of the fields, at every depth. */
function fieldsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fieldsOf);
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fieldsOf(inner)]));
}

/** How many events the console exports, once it may read and Postgres has the time. */
async function storedEvents(run: MakeRun): Promise<number> {
  const reader = await run.reader();
  try {
    return await until('an export', async () => {
      const { status, body } = await reader.send({ path: '/v1/export/events/' });
      if (status !== 503 && status !== 429) expect(status, body).to.equal(200);
      return status === 200 && body.split('\n').length - 1;
    });
  } finally {
    reader.close();
  }
}

/** What the embedded Postgres holds, once nobody else has it open. */
async function readStore(folder: string): Promise<{ events: AcceptedEvent[]; executions: Execution[] }> {
  const db = await openEmbedded(join(folder, 'postgres'));
  try {
    return { events: await eventsIn(db), executions: await storedExecutions(db) };
  } finally {
    await db.destroy();
  }
}

/** Processes that still work on the folder. */
function leftovers(folder: string): string {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(folder))
    .join('\n');
}

/** Whether each port can be reached at an address of this machine other than 127.0.0.1. */
function reachable({ ports }: MakeRun): Promise<boolean[]> {
  const canConnect = async (port: number): Promise<boolean> => {
    const socket = connect(port, '127.0.0.2');
    const failure = await failureOf(once(socket, 'connect'));
    socket.destroy();
    return failure === undefined;
  };
  return Promise.all(Object.values(ports).map(canConnect));
}
