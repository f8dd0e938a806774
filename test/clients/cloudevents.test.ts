import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { clientRun } from './client-run.ts';
import { executionsOf, installClients } from './clients.ts';

const script = (name: string): string => join(import.meta.dirname, name);

describe('cloudevents, unmodified, against make run', function suite() {
  this.timeout(180_000);
  const shared = clientRun();

  const clients: Record<string, () => Promise<string[]>> = {
    JavaScript: () => Promise.resolve([process.execPath, script('send-cloud-events.ts')]),
    Python: async () => [join(await installClients(), 'python'), script('send_cloud_events.py')],
  };
  for (const [language, client] of Object.entries(clients)) {
    it(`${language}: records each event once, in binary and in structured mode`, async () => {
      const { url, token, certificate, console } = shared.current;
      const automation = randomUUID();
      const trusted = { NODE_EXTRA_CA_CERTS: certificate, REQUESTS_CA_BUNDLE: certificate };
      const [program, ...args] = [...(await client()), `${url}/v1/cloudevents/`, automation];
      await promisify(execFile)(program, args, { env: { ...process.env, ...trusted, TOKEN: token } });

      const executions = await executionsOf(console, automation, 2);
      const states = { binary: 'succeeded', structured: 'failed' };
      for (const [execution_id, state] of Object.entries(states)) {
        const execution = executions.find((one) => one.execution_id === execution_id);
        expect(execution).to.deep.include({ state, anomalies: [] });
        expect(execution?.counts).to.include({ START: 1, END: 1, [state === 'failed' ? 'ERROR' : 'EVENT']: 1 });
      }
    });
  }
});
