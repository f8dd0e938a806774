import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { Forwarder } from '../support/forwarder.ts';
import { until } from '../support/until.ts';
import { clientRun } from './client-run.ts';
import { executionsOf, installClients } from './clients.ts';

const execute = promisify(execFile);
const examples = new URL('../../deploy/examples/', import.meta.url).pathname;

describe('RPA tools, as docs/report/rpa.md says, against make run', function suite() {
  this.timeout(180_000);
  const shared = clientRun();

  describe('Robot Framework', () => {
    let programs: string;
    before(async function install() {
      this.timeout(600_000);
      programs = await installClients('rpa-requirements.txt');
    });

    /** Resolves with the exit code, the output and the log of a run of the example. */
    async function robot(automation: string, settings: Record<string, string> = {}) {
      const { certificate, run, token, url } = shared.current;
      const output = join(run.folder, `robot-${automation}`);
      const env = {
        ...process.env,
        RUNLEDGER_URL: url,
        RUNLEDGER_TOKEN: token,
        REQUESTS_CA_BUNDLE: certificate,
        AUTOMATION: automation,
        ...settings,
      };
      const args = ['--rpa', '--outputdir', output, join(examples, 'invoices.robot')];
      const { code, stdout, stderr } = await execute(join(programs, 'robot'), args, { env }).then(
        (ended) => ({ code: 0, ...ended }),
        (error: { code: number; stdout: string; stderr: string }) => error,
      );
      const log = await Promise.all(['log.html', 'output.xml'].map((name) => readFile(join(output, name), 'utf8')));
      return { code, text: [stdout, stderr, ...log].join('\n') };
    }

    it('reports a run that succeeds, and one that fails with its first error, without the token in any log', async () => {
      const automation = randomUUID();
      const good = await robot(automation);
      const bad = await robot(automation, { BALANCE: '7 €' });
      expect([good.code, bad.code], good.text.slice(0, 2_000)).to.deep.equal([0, 1]);
      const { console, token } = shared.current;
      expect(await executionsOf(console, automation, 2)).to.containSubset([
        { state: 'failed', counts: { START: 1, WARNING: 1, ERROR: 1, END: 1 }, anomalies: [] },
        { state: 'succeeded', counts: { START: 1, WARNING: 1, ERROR: 0, END: 1 }, anomalies: [] },
      ]);
      const answer = await console.send({ path: `/v1/events/?automation_id=${automation}&kind=ERROR` });
      expect(answer.json<{ items: object[] }>().items).to.containSubset([
        { error_id: 'robot', error_description_detail: 'Book Invoices: The books do not balance: 7 €' },
      ]);
      for (const { text } of [good, bad]) expect(text).not.to.contain(token).and.not.to.contain('[ WARN ]');
    });

    it('sends again after a broken connection, and goes on when nothing helps', async () => {
      const { console, run } = shared.current;
      await using forwarder = await Forwarder.start(run.ports.https);
      const settings = { RUNLEDGER_URL: `https://localhost:${forwarder.port}` };
      forwarder.cut();
      const automation = randomUUID();
      const reported = robot(automation, settings);
      await until('the first attempt', () => forwarder.accepted > 0);
      forwarder.heal();
      expect((await reported).code).to.equal(0);
      expect(await executionsOf(console, automation, 1)).to.containSubset([
        { state: 'succeeded', counts: { START: 1, WARNING: 1, END: 1 }, anomalies: [] },
      ]);
      const refused = await robot(randomUUID(), { RUNLEDGER_TOKEN: 'wrong' });
      expect(refused.code).to.equal(0);
      expect(refused.text).to.contain('Not reported: START.');
    });
  });

  describe('the requests of', () => {
    /** Sends an event as .NET does: it asks before it sends a body. Resolves with the status. */
    async function send(body: object, key: string): Promise<string> {
      const { certificate, token, url } = shared.current;
      const headers = { token, 'Idempotency-Key': key, Expect: '100-continue' };
      const type = 'Content-Type: application/json; charset=utf-8';
      const options = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
      const given = ['-sS', '-o', '/dev/null', '-w', '%{http_code}', '--cacert', certificate, '-H', type, ...options];
      const { stdout } = await execute('curl', [...given, '-d', JSON.stringify(body), `${url}/v1/register/`]);
      return stdout;
    }
    const page = (): Promise<string> => readFile(new URL('../../docs/report/rpa.md', import.meta.url), 'utf8');
    const automationOfPage = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';

    it('Power Automate are recorded once each', async () => {
      const automation = randomUUID();
      const run = '08584384512345678901234567890CU25';
      const values: Record<string, string> = {
        "workflow()?['run']?['name']": run,
        'utcNow()': new Date().toISOString().replace('Z', '1234Z'),
        "take(string(result('Work')), 100000)": '[{"name":"Book","status":"Failed"}]',
      };
      const blocks = Array.from((await page()).matchAll(/```json\n(.*?)```/gs), ([, block = '']) => block);
      const bodies = blocks.map((block) => {
        const body = Object.entries(JSON.parse(block) as Record<string, string>).map(([name, value]) => {
          const given = value.replace(/@\{(.*?)\}$/, (_, expression: string) => values[expression] ?? '?');
          return [name, given.replace(automationOfPage, automation)];
        });
        return Object.fromEntries(body) as Record<string, string>;
      });
      const sent = [...bodies, { ...bodies[0], event: 'END' }];
      expect(sent.map(({ event }) => event)).to.deep.equal(['START', 'ERROR', 'END']);
      for (const body of [...sent, ...sent]) expect(await send(body, `${run}-${body.event}`)).to.equal('201');
      expect(await executionsOf(shared.current.console, automation, 1)).to.containSubset([
        { execution_id: run, state: 'failed', counts: { START: 1, ERROR: 1, END: 1 }, anomalies: [] },
      ]);
    });

    it('UiPath and PowerShell have the fields of the contract', async () => {
      const [automation, run] = [randomUUID(), randomUUID()];
      const values: Record<string, string> = { automation_id: automation, execution_id: run, event: 'ERROR' };
      const pairs = Array.from((await page()).matchAll(/\{"(\w+)", (?!runId)/g), ([, name = '']) => name);
      const script = await readFile(join(examples, 'runledger.ps1'), 'utf8');
      const hash = /ConvertTo-Json @\{(.*?)\n {4}\}/s.exec(script)?.[1] ?? '';
      const fields = Array.from(hash.matchAll(/(\w+) = /g), ([, name = '']) => name);
      const texts = ['occurred_at', 'error_id', 'error_description'];
      expect(pairs).to.have.members(['automation_id', 'event', ...texts]);
      expect(fields).to.have.members(['automation_id', 'execution_id', 'event', 'description', ...texts]);
      const time = new Date().toISOString().replace('Z', '1234Z');
      const body = fields.map((name) => [name, values[name] ?? (name === 'occurred_at' ? time : `${name} é`)]);
      for (let i = 0; i < 2; i += 1) expect(await send(Object.fromEntries(body) as object, run)).to.equal('201');
      const { console } = shared.current;
      await until('the event', async () => {
        const answer = await console.send({ path: `/v1/events/?automation_id=${automation}` });
        const { items } = answer.json<{ items: object[] }>();
        if (items.length > 0)
          expect(items).to.containSubset([{ error_id: 'error_id é', description: 'description é' }]);
        return items.length === 1;
      });
    });
  });
});
