import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { unformattedFiles } from '../support/formatting.ts';
import { forbiddenImports, projectImports } from '../support/import-arrows.ts';

const run = promisify(execFile);
const root = new URL('../..', import.meta.url).pathname;

/** For Go: one thread, and no garbage collection below 3 GiB, take half of the CPU time. */
const frugal = { GOMAXPROCS: '1', GOGC: 'off', GOMEMLIMIT: '3GiB' };

/** The output of a program that fails; an empty text when it succeeds. */
async function complaint(program: string, ...args: string[]): Promise<string> {
  try {
    const env = { ...process.env, ...frugal, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    await run(program, args, { cwd: root, env, maxBuffer: 16 * 1024 * 1024 });
    return '';
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    return [message, stdout, stderr].join('\n');
  }
}

describe('the project', () => {
  it('is formatted', async () => {
    const { files, remember } = await unformattedFiles();
    const options = ['--check', '--ignore-unknown', '--log-level', 'warn'];
    if (files.length > 0) expect(await complaint('prettier', ...options, ...files)).to.equal('');
    await remember();
  }).timeout(120_000);

  it('type-checks', async () => {
    expect(await complaint('tsc', '--singleThreaded')).to.equal('');
  }).timeout(120_000);

  it('imports along the arrows only', async () => {
    expect(forbiddenImports(await projectImports())).to.deep.equal([]);
  }).timeout(120_000);

  it('is linted', async () => {
    expect(await complaint('oxlint')).to.equal('');
  }).timeout(120_000);

  it('has an OpenAPI document without complaints, in 3.1 and in 3.0', async () => {
    const files = ['internal/intake/openapi.yaml', 'internal/intake/openapi-3.0.yaml'];
    expect(await complaint('redocly', 'lint', ...files)).to.equal('');
  }).timeout(120_000);

  it('depends on no package with a known high vulnerability', async function audit() {
    const said = await complaint('npm', 'audit', '--audit-level=high', '--omit=optional');
    if (/audit endpoint returned an error|ENOTFOUND|ECONNREFUSED/.test(said)) {
      console.log('      skipped: this registry answers no audit requests, so nothing was checked');
      this.skip();
    }
    expect(said).to.equal('');
  }).timeout(120_000);
});
