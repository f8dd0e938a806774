import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { digestOf } from '../../internal/cluster/tokens/token-entry.ts';
import { Browser } from '../support/browser.ts';
import { commandsOf } from '../support/document-blocks.ts';
import { DocumentShell } from '../support/document-shell.ts';
import { repository } from '../support/helm.ts';
import { formOf, shownToken } from '../support/owners.ts';
import { MakeRun } from '../support/make-run.ts';
import { until } from '../support/until.ts';

describe('the link of make run, and make demo', function suite() {
  this.timeout(600_000);
  let run: MakeRun;
  beforeEach(async () => {
    run = await MakeRun.create();
  });
  afterEach(async () => {
    await run.remove();
  });
  const link = (): URL => new URL(/https:\S+\/once\/\S+/.exec(run.output.join('\n'))?.[0] ?? '');

  it('logs in to the console once, as an owner who makes and revokes tokens, and shows what make demo sent', async () => {
    await run.start(await ledgerOf(run.folder));
    const first = link();
    expect(first.origin).to.equal(`https://localhost:${run.ports.console}`);
    const reader = await run.reader();
    try {
      const [browser, other] = [new Browser(reader), new Browser(reader)];
      expect((await browser.get(first.pathname)).headers.location).to.equal(`${first.origin}/`);
      expect((await browser.get(first.pathname)).status, 'opened again by the same person').to.equal(303);
      expect((await other.get(first.pathname)).status, 'opened by somebody else').to.equal(410);
      expect((await browser.get('/')).headers.location).to.equal('/o/demo/');

      const page = '/o/demo/settings/tokens';
      const made = await browser.post(page, { ...(await formOf(browser, page)), name: 'robot', kind: 'write' });
      const token = shownToken(made);
      const place = `${page}/${digestOf(token).slice(0, 12)}`;
      const ingest = await run.client();
      const body = JSON.stringify({ automation_id: randomUUID(), execution_id: '1', event: 'START' });
      const headers = { token, 'content-type': 'application/json' };
      const send = async () => (await ingest.send({ method: 'POST', path: '/v1/register/', headers, body })).status;
      await until('201 with the token', async () => (await send()) === 201, 10_000);
      await until('the day of its use', async () => /\d{4}-\d\d-\d\d/.test((await browser.get(place)).body), 30_000);
      const fields = await formOf(browser, place, `${place}/revoke`);
      expect((await browser.post(`${place}/revoke`, { ...fields, confirm: 'robot' })).status).to.equal(303);
      await until('401 with the token', async () => (await send()) === 401, 10_000);
      ingest.close();
      const files = await readdir(run.folder, { recursive: true, withFileTypes: true });
      for (const file of files.filter((one) => one.isFile())) {
        const bytes = await readFile(join(file.parentPath, file.name));
        expect(bytes.includes(token), `${file.name} has the token`).to.equal(false);
      }
      expect(run.output.join('\n')).to.not.include(token);
      expect((await browser.get('/o/demo/settings/activity')).body)
        .to.include('revoked')
        .and.to.include('robot');

      const demo = run.demo(300);
      await until('the address of the console', () => /Watch it: https:/.test(demo.output.join('\n')), 120_000);
      await until(
        'a living page',
        async () => {
          const page = await browser.get('/o/demo/executions', { accept: 'text/html' });
          return page.status === 200 && page.body.includes('/o/demo/executions/');
        },
        120_000,
      );
      expect(await demo.exited, demo.output.join('\n')).to.equal(0);
      const output = demo.output.join('\n');
      expect(output).to.include('The record holds just what was sent.');
      for (const verdict of ['missing', 'overrunning', 'failing']) expect(output).to.match(new RegExp(` ${verdict} `));

      const shell = await DocumentShell.open(run);
      const check = commandsOf('docs/prove/auditors.md', 'ledger').join('\n');
      // The demo has been played. Both checks fail, the first while events wait for a checkpoint.
      const script = `set +e; make() { :; }; cp .data/log.pub .\n${check}`;
      const said = (await shell.run(`${script}\necho "exit $?"`)).join('\n');
      expect(said).to.match(/^Something was lost, added or changed: 1 finding\.$[^]*^exit 1$/m);
      await shell.close();
      await run.interrupt();

      await run.start();
      expect(link().pathname).to.not.equal(first.pathname);
      expect((await other.get(first.pathname)).status, 'a link of an earlier process').to.equal(410);
      expect((await browser.get('/o/demo/executions')).status, 'the session').to.equal(200);
    } finally {
      reader.close();
      await run.interrupt();
    }
  });
});

/** The settings with which docs/prove/auditors.md starts `make run`, whose keys are in a folder. */
async function ledgerOf(cwd: string): Promise<Record<string, string>> {
  const commands = `
    npm() { :; }
    node() { shift; "${process.execPath}" "${repository}/cmd/admin/main.ts" "$@"; }
    make() { printf '%s %s' "$LEDGER_KEY_FILE" "$LEDGER_DIGESTS"; }`;
  const script = [commands, ...commandsOf('docs/prove/auditors.md', 'server')].join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-ec', script], { cwd });
  const [file = '', LEDGER_DIGESTS = ''] = stdout.split(' ');
  return { LEDGER_KEY_FILE: join(cwd, file), LEDGER_DIGESTS };
}
