import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { clientRun } from './client-run.ts';
import { executionsOf, installClients } from './clients.ts';

const execute = promisify(execFile);
const root = new URL('../..', import.meta.url).pathname;
const example = (name: string): Promise<string> => readFile(join(root, 'deploy/examples', name), 'utf8');

describe('OpenLineage clients, unmodified, against make run', function suite() {
  this.timeout(180_000);
  const shared = clientRun();
  let programs: string;
  before(async function install() {
    this.timeout(600_000);
    programs = await installClients();
  });

  it('records each run of openlineage-python once, with the transport of airflow.env', async () => {
    const variables = new Map((await example('airflow.env')).split('\n').map(divided));
    const transport = variables.get('AIRFLOW__OPENLINEAGE__TRANSPORT')?.replace('<token>', shared.current.token);
    const namespace = variables.get('AIRFLOW__OPENLINEAGE__NAMESPACE') ?? '';
    await run('python', [join(root, 'test/clients/send_lineage.py'), namespace, 'orders.load'], {
      OPENLINEAGE__TRANSPORT: addressed(transport ?? ''),
    });

    const executions = await executionsOf(shared.current.console, await automationOf(namespace, 'orders.load'), 2);
    const counts = { START: 1, EVENT: 0, WARNING: 0, ERROR: 0, END: 1 };
    expect(executions).to.containSubset([
      { state: 'succeeded', counts: { ...counts, EVENT: 1 }, anomalies: [] },
      { state: 'failed', counts: { ...counts, ERROR: 1 }, anomalies: [] },
    ]);
  });

  it('records the command and each model of dbt-ol once, with openlineage.yml', async () => {
    const folder = join(shared.current.run.folder, 'dbt');
    await makeProject(folder);
    await writeFile(join(folder, 'lineage.yml'), addressed(await example('openlineage.yml')));
    const code = await run('dbt-ol', ['run', '--quiet', '--profiles-dir', folder, '--project-dir', folder], {
      OPENLINEAGE_CONFIG: join(folder, 'lineage.yml'),
      OPENLINEAGE_NAMESPACE: 'shop',
      OPENLINEAGE__TRANSPORT__AUTH__APIKEY: shared.current.token,
      DBT_SEND_ANONYMOUS_USAGE_STATS: 'false',
    });
    expect(code).to.equal(1);

    const jobs = { 'dbt-run-shop': 'failed', 'shop.main.shop.good': 'succeeded', 'shop.main.shop.bad': 'failed' };
    for (const [job, state] of Object.entries(jobs)) {
      const counts = { START: 1, EVENT: 0, WARNING: 0, ERROR: state === 'failed' ? 1 : 0, END: 1 };
      const executions = await executionsOf(shared.current.console, await automationOf('shop', job), 1);
      expect(executions).to.containSubset([{ state, counts, anomalies: [] }]);
    }
  });

  /** Runs a program of the clients; resolves with its exit code. */
  async function run(program: string, args: string[], settings: Record<string, string>): Promise<number> {
    const PATH = `${programs}:${process.env['PATH'] ?? ''}`;
    const env = { ...process.env, ...settings, PATH, REQUESTS_CA_BUNDLE: shared.current.certificate };
    const cwd = shared.current.run.folder;
    return execute(join(programs, program), args, { env, cwd }).then(
      () => 0,
      ({ code }: { code: number }) => code,
    );
  }

  /** The automation of a job, by the lines of docs/report/openlineage.md. */
  async function automationOf(namespace: string, job: string): Promise<string> {
    const lines =
      /```python\n(.*?uuid5.*?)```/s.exec(await readFile(join(root, 'docs/report/openlineage.md'), 'utf8'))?.[1] ?? '';
    const given = lines.replace("'shop', 'orders.daily'", `'${namespace}', '${job}'`);
    const { stdout } = await execute(join(programs, 'python'), ['-c', given]);
    return stdout.trim();
  }

  /** The text of an example, with the address of `make run`. */
  function addressed(text: string): string {
    expect(text).to.contain('https://runledger.example.com');
    return text.replace('https://runledger.example.com', shared.current.url);
  }
});

/** The name and the value of a line such as `NAME=value`. */
function divided(line: string): [string, string] {
  const [name = '', ...value] = line.split('=');
  return [name, value.join('=')];
}

/** A project with a model that works, and one that fails. */
async function makeProject(folder: string): Promise<void> {
  const files = {
    'dbt_project.yml': '{ name: shop, version: 1.0.0, profile: shop }',
    'profiles.yml': `shop: { target: test, outputs: { test: { type: duckdb, path: ${join(folder, 'shop.duckdb')} } } }`,
    'models/good.sql': 'select 1 as id',
    'models/bad.sql': "{{ config(materialized='table') }} select * from {{ ref('good') }} where id = 'x'::integer",
  };
  await mkdir(join(folder, 'models'), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}
