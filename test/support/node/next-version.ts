import { execFile } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../helm.ts';

const run = promisify(execFile);

/** A change of a file: what to replace by what. */
type Change = readonly [file: string, old: string | RegExp, (found: string) => string];

const before =
  (text: string) =>
  (found: string): string =>
    `${text}${found}`;

/**
 * Executions get the column `stored_by`, the name of the connection that stored them; workers the
 * setting STORED_BY, which is that name; and Automation the version v1, served and not yet stored.
 */
const changes: readonly Change[] = [
  ['internal/store/migrate.ts', 'import * as baseline', before(`import * as next from './migrations/9999-next.ts';\n`)],
  ['internal/store/migrate.ts', `'0001-baseline': baseline`, (found) => `${found}, '9999-next': next`],
  [
    'internal/config/settings.ts',
    '  IDEMPOTENCY_HOURS:',
    before(`  STORED_BY: str({ default: 'worker', desc: '' }),\n`),
  ],
  ['cmd/worker/worker.ts', `  'RETENTION_DAYS',`, before(`  'STORED_BY',\n`)],
  [
    'cmd/worker/service.ts',
    '(config.DATABASE_URL, workerDatabase,',
    () => '(config.DATABASE_URL, { ...workerDatabase, process: config.STORED_BY },',
  ],
  ['charts/runledger/values.yaml', '  idempotencyHours: 24', before('  storedBy: worker\n')],
  ['charts/runledger/values.schema.json', '"idempotencyHours":', before('"storedBy": { "type": "string" },')],
  [
    'charts/runledger/templates/worker/_env.tpl',
    '- { name: RETENTION_DAYS,',
    before('- { name: STORED_BY, value: {{ .Values.config.storedBy }} }\n'),
  ],
  [
    'charts/runledger/templates/crds/automations.yaml',
    / {4}- name: v1beta1\n[^]*?(?=\{\{- end \}\}\n)/,
    (found) => found + found.replace('v1beta1', 'v1').replace('storage: true', 'storage: false'),
  ],
];

const migration = `import { sql, type Kysely } from 'kysely';
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql\`set local lock_timeout = 200\`.execute(db);
  await sql\`alter table executions add stored_by text not null default current_setting('application_name')\`.execute(db);
}
`;

/** Clones the last commit of this repository, with its packages. */
export async function cloneInto(folder: string): Promise<void> {
  await run('git', ['clone', '--quiet', '--shared', repository, folder]);
  await writeFile(join(folder, '.git/info/exclude'), 'node_modules\n');
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
}

/**
 * Commits the next version in a clone: one column, one setting and one version of a resource more.
 * Resolves with what it changed of the image.
 */
export async function commitNext(clone: string, version: string): Promise<string[]> {
  const git = async (...args: string[]): Promise<string> =>
    (await run('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], { cwd: clone })).stdout;
  await run(process.execPath, ['test/support/version.ts', version], { cwd: clone });
  await writeFile(join(clone, 'internal/store/migrations', '9999-next.ts'), migration);
  for (const [file, old, replaced] of changes) {
    const text = await readFile(join(clone, file), 'utf8');
    if (text.replace(old, '') === text) throw new Error(`${file} has no ${String(old)}`);
    await writeFile(join(clone, file), text.replace(old, replaced));
  }
  await git('add', '--all');
  await git('commit', '--quiet', '--message', version);
  return (await git('diff', '--name-only', 'HEAD~1', '--', 'package.json', 'internal', 'cmd')).trim().split('\n');
}
