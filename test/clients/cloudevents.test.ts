import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { MakeRun } from '../support/make-run.ts';
import { executionsOf, installClients } from './clients.ts';

describe('cloudevents for Python, unmodified, against make run', function suite() {
  this.timeout(180_000);
  let run: MakeRun;
  before(async () => {
    run = await MakeRun.create();
    await run.start({ READ_RATE: '1000' });
  });
  after(() => run.remove());

  it('records each event once, in binary and in structured mode', async () => {
    const automation = randomUUID();
    const TOKEN = (await readFile(join(run.folder, 'demo-token'), 'utf8')).trim();
    const env = { ...process.env, TOKEN, REQUESTS_CA_BUNDLE: join(run.folder, 'tls/cert.pem') };
    const script = new URL('send_cloud_events.py', import.meta.url).pathname;
    const url = `https://localhost:${run.ports.https}/v1/cloudevents/`;
    await promisify(execFile)(join(await installClients(), 'python'), [script, url, automation], { env });

    const executions = await executionsOf(await run.reader(), automation, 2);
    expect(executions).to.have.length(2);
    const states = { binary: 'succeeded', structured: 'failed' };
    for (const [execution_id, state] of Object.entries(states)) {
      const execution = executions.find((one) => one.execution_id === execution_id);
      expect(execution).to.deep.include({ state, anomalies: [] });
      expect(execution?.counts).to.include({ START: 1, END: 1, [state === 'failed' ? 'ERROR' : 'EVENT']: 1 });
    }
  });
});
