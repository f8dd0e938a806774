import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiClient } from '../support/api-client.ts';
import { MakeRun } from '../support/make-run.ts';
import { logKey } from '../support/sealed-ledger.ts';

/** What a client needs to report to `make run`, and a reader to see it. */
export interface ClientRun {
  readonly run: MakeRun;
  /** The `https://` address of ingest. */
  readonly url: string;
  /** The certificate to trust. */
  readonly certificate: string;
  readonly token: string;
  readonly readToken: string;
  readonly pingKey: string;
  readonly console: ApiClient;
}

let shared: Promise<ClientRun> | undefined;
let suitesLeft = 0;

/** One `make run` for all suites that call this; it ends after the last of them. */
export function clientRun(): { readonly current: ClientRun } {
  let current: ClientRun | undefined;
  suitesLeft += 1;
  before(async () => {
    current = await (shared ??= start());
  });
  after(async () => {
    suitesLeft -= 1;
    if (suitesLeft === 0) await stop();
  });
  return {
    get current() {
      if (current === undefined) throw new Error('make run has not started');
      return current;
    },
  };
}

// With --grep, some suites never run.
after(stop);

async function start(): Promise<ClientRun> {
  const run = await MakeRun.create();
  await run.start({ READ_RATE: '1000', LOG_LEVEL: 'debug', LEDGER_KEY: logKey, LEDGER_DIGESTS: 'true' });
  const read = async (name: string): Promise<string> => (await readFile(join(run.folder, name), 'utf8')).trim();
  return {
    run,
    url: `https://localhost:${run.ports.https}`,
    certificate: join(run.folder, 'tls/cert.pem'),
    token: await read('demo-token'),
    readToken: await read('demo-read-token'),
    pingKey: await read('demo-ping-key'),
    console: await run.reader(),
  };
}

async function stop(): Promise<void> {
  const started = await shared;
  shared = undefined;
  started?.console.close();
  await started?.run.remove();
}
