import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const harness = join(import.meta.dirname, '../../support/cluster/binaries.ts');
const script = `import { findBinaries } from ${JSON.stringify(harness)};
console.log(await findBinaries().then(JSON.stringify, (error) => error.message));`;

describe('programs of the cluster tests', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-binaries-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function found(env: NodeJS.ProcessEnv): Promise<string> {
    const flags = ['--input-type=module', '--eval', script];
    const { stdout } = await promisify(execFile)(process.execPath, flags, { env: { XDG_CACHE_HOME: folder, ...env } });
    return stdout.trim();
  }

  async function install(): Promise<string> {
    for (const name of ['etcd', 'kube-apiserver']) {
      await writeFile(join(folder, name), '');
      await chmod(join(folder, name), 0o755);
    }
    return JSON.stringify({ etcd: join(folder, 'etcd'), apiServer: join(folder, 'kube-apiserver') });
  }

  it('are taken from KUBEBUILDER_ASSETS, or from the PATH', async () => {
    const installed = await install();
    expect(await found({ KUBEBUILDER_ASSETS: folder, PATH: '' })).to.equal(installed);
    expect(await found({ PATH: `/nowhere:${folder}` })).to.equal(installed);
  });

  it('are said to be missing in one line', async () => {
    expect(await found({ KUBEBUILDER_ASSETS: folder })).to.equal(
      `KUBEBUILDER_ASSETS=${folder} has no kube-apiserver and etcd`,
    );
    expect(await found({ PATH: folder })).to.equal(
      'The cluster tests need Go 1.26 or later, or kube-apiserver and etcd on the PATH or in KUBEBUILDER_ASSETS.',
    );
    expect(await readdir(join(folder, 'runledger')), 'what is left of the attempt').to.deep.equal([]);
  });
});
