import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { until } from '../support/until.ts';
import { clientRun } from './client-run.ts';
import { executionsOf, installClients } from './clients.ts';

const execute = promisify(execFile);
const root = new URL('../..', import.meta.url).pathname;

describe('borgmatic with borgbackup, unmodified, against make run', function suite() {
  this.timeout(180_000);
  const shared = clientRun();
  let programs: string;
  before(async function install() {
    this.timeout(600_000);
    await execute(join(root, 'deploy/install.sh'), ['borg', 'python']);
    programs = await installClients();
  });

  it('records each backup once: succeeded, and failed with the log of borgmatic', async () => {
    const { console, pingKey, run } = shared.current;
    const [good, bad] = [randomUUID(), randomUUID()];
    await backUp(good, ['repo-create', '--encryption', 'none']);
    await backUp(good, ['create']);
    await backUp(good, ['create']);
    await backUp(bad, ['create'], { source: '/no/such/folder', repository: '/no/such/repository' }).then(
      () => expect.fail('borgmatic should fail'),
      () => undefined,
    );

    expect(await executionsOf(console, good, 2)).to.containSubset([
      { state: 'succeeded', counts: { START: 1, EVENT: 1, END: 1 }, anomalies: [] },
      { state: 'succeeded', counts: { START: 1, EVENT: 1, END: 1 }, anomalies: [] },
    ]);
    expect(await executionsOf(console, bad, 1)).to.containSubset([
      { state: 'failed', counts: { START: 1, ERROR: 1, END: 1 }, anomalies: [] },
    ]);
    expect(run.output.join('\n')).not.to.contain(pingKey);
  });

  it('keeps ping keys out of the output also when a ping is refused', async () => {
    const { pingKey: key, run } = shared.current;
    const client = await run.client();
    const wrong = 'rlp_wrong-key-0123456789';
    const paths = [`${key}/x.y`, `${key}/${randomUUID()}/no`, `${key}/a/b/c`, `${key}/%zz`, `${wrong}/${randomUUID()}`];
    for (const path of paths) expect((await client.send({ path: `/ping/${path}` })).status).to.be.within(400, 404);
    expect((await client.send({ method: 'PUT', path: `/ping/${key}/x` })).status).to.equal(405);
    client.close();
    await until('the refusals in the output', () => /request refused/.test(run.output.join('\n')));
    expect(run.output.join('\n')).not.to.contain(key).and.not.to.contain(wrong);
  });

  /** Runs borgmatic with the example's configuration, on folders of this test. */
  async function backUp(
    automation: string,
    action: string[],
    { source = join(root, 'deploy'), repository = join(shared.current.run.folder, 'borg') } = {},
  ): Promise<void> {
    const { certificate, pingKey, run, url } = shared.current;
    const example = (await readFile(join(root, 'deploy/examples/borgmatic.yaml'), 'utf8'))
      .replace('https://runledger.example.com/', `${url}/`)
      .replace('PING_KEY', pingKey)
      .replace('0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11', automation)
      .replace('/home\n', `${source}\n`)
      .replace('ssh://backup@backup.example.com/./home.borg', repository);
    const ofTest = {
      source_directories_must_exist: true,
      borg_base_directory: run.folder,
      user_runtime_directory: join(run.folder, 'runtime'),
      user_state_directory: join(run.folder, 'state'),
    };
    const config = join(run.folder, `${automation}.yaml`);
    await writeFile(config, `${example}\n${stringify(ofTest)}`, { mode: 0o600 });
    const env = { ...process.env, REQUESTS_CA_BUNDLE: certificate };
    await execute(join(programs, 'borgmatic'), ['--config', config, ...action], { env });
  }
});
