import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { automation, environmentWith, outcomeOf } from '../../support/exec.ts';
import { repository } from '../../support/helm.ts';

describe('the npm package of runledger exec', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-package-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('installs from a clone, and runs from node_modules with all that it needs', async () => {
    const clone = join(folder, 'clone');
    for (const name of ['cmd/exec', 'internal', 'tsconfig.json', 'package.json']) {
      await cp(join(repository, name), join(clone, name), { recursive: true });
    }
    await symlink(join(repository, 'node_modules'), join(clone, 'node_modules'));
    const npm = (...args: string[]): Promise<{ stdout: string }> => promisify(execFile)('npm', args, { cwd: clone });
    const tarball = (await npm('pack', '--silent', './cmd/exec')).stdout.trim();
    await npm('install', '--global', '--silent', '--offline', '--prefix', join(folder, 'installed'), tarball);
    expect(await readdir(join(clone, 'cmd/exec'))).not.to.include('dist');
    await rm(clone, { recursive: true });

    const env = environmentWith({
      HOME: folder,
      RUNLEDGER_URL: 'https://127.0.0.1:1',
      RUNLEDGER_TOKEN: 'none',
      RUNLEDGER_SPOOL: join(folder, 'spool'),
    });
    const program = join(folder, 'installed/bin/runledger');
    const command = ['sh', '-c', 'echo out; echo err >&2; exit 5'];
    const found = await outcomeOf([program, 'exec', '--automation', automation, '--', ...command], env);
    expect(found).to.deep.equal({ code: 5, signal: null, stdout: 'out\n', stderr: 'err\n' });
    const spooled = await readdir(join(folder, 'spool'), { recursive: true });
    expect(spooled.filter((name) => name.endsWith('.json'))).to.have.lengthOf(3);
    for (const name of ['flush', 'executions', 'events', 'tail']) {
      const { stderr } = await outcomeOf([program, name, '--token-file', '/none'], env);
      expect(stderr, name)
        .to.match(/^runledger: /m)
        .and.not.match(/Cannot find module|ERR_/);
    }
    expect((await outcomeOf([program, 'help'], env)).stdout).to.include('runledger exec --automation');
  });
});
