import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { ClientRun } from '../../clients/client-run.ts';
import { until } from '../until.ts';

/** A program that uses a generated client, and what it needs in its environment. */
export interface Program {
  readonly file: string;
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

let proven: Promise<string> | undefined;

/** The id of an event that is in the log; its proof is ready. */
async function provenEvent({ run, console }: ClientRun): Promise<string> {
  using ingest = { client: await run.client(), [Symbol.dispose]: () => ingest.client.close() };
  const event = { automation_id: randomUUID(), execution_id: 'proven', event: 'START' };
  const answer = await ingest.client.register(event);
  const id = String(answer.headers['receipt-id']);
  await until('a proof', async () => (await console.send({ path: `/v1/log/proof/${id}` })).status === 200, 60_000);
  return id;
}

/**
 * Runs the program with two tokens, and compares what it has found: a run that it registers, alone
 * and in bulk; the fault of a wrong event; every read operation, and the exports.
 */
export async function expectWorks(run: ClientRun, program: Program): Promise<void> {
  const [automation, execution] = [randomUUID(), `run ${randomUUID()}`];
  const { readToken } = run;
  const env = {
    ...process.env,
    INGEST: run.url,
    CONSOLE: `https://localhost:${run.run.ports.console}`,
    WRITE_TOKEN: run.token,
    READ_TOKEN: readToken,
    AUTOMATION: automation,
    EXECUTION: execution,
    KEY: randomUUID(),
    PROVEN: await (proven ??= provenEvent(run)),
    // For Node, Python and Go.
    NODE_EXTRA_CA_CERTS: run.certificate,
    SSL_CERT_FILE: run.certificate,
    ...program.env,
  };
  const { stdout } = await promisify(execFile)(program.file, program.args ?? [], { env, cwd: program.cwd });
  const { checkpoint, proof, tile, stream, ...found } = JSON.parse(stdout) as Record<string, unknown>;
  expect(found).to.deep.equal({
    registered: 'START',
    bulk: ['EVENT', 'ERROR', 'END'],
    fault: '/automation_id',
    state: 'failed',
    counts: { START: 1, EVENT: 1, WARNING: 0, ERROR: 1, END: 1 },
    automation: 'failed',
    figures: 1,
    executions: [execution],
    own: ['START', 'EVENT', 'ERROR', 'END'],
    events: ['E-1'],
    errors: ['E-1'],
    alerts: [],
    ndjson: 4,
    csv: 5,
    parquet: 'PAR1',
  });
  expect(checkpoint).to.match(/^log\.example\.org\//);
  expect(proof).to.match(/tlog-proof/);
  expect(tile).to.equal(32);
  expect([true, undefined], 'of clients that can follow a stream').to.include(stream);
}
