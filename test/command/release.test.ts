import { execFile } from 'node:child_process';
import { generateKeyPairSync, hash } from 'node:crypto';
import { appendFile, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { findHelm } from '../support/helm-binaries.ts';
import { helm, repository } from '../support/helm.ts';
import { writeEmptyImage } from '../support/oci-layout.ts';
import { ReleaseRegistry, releaseTool } from '../support/release-registry.ts';
import { ownVersion } from '../support/version.ts';

const scripts = join(repository, 'deploy/release');

/*
 * All of a release but its images, which `deploy/release/compare.sh` builds on a machine with time:
 * these are empty.
 */
describe('a release', function () {
  this.timeout(1_200_000);
  let work: string;
  let files: string;
  let version: string;
  let digest: string;
  let environment: NodeJS.ProcessEnv;

  before(async () => {
    work = await mkdtemp(join(tmpdir(), 'runledger-release-'));
    files = join(work, 'files');
    version = await ownVersion();
    environment = { ...process.env, PATH: `${dirname(await findHelm())}:${process.env['PATH']}`, IMAGES: work };
    for (const name of ['runledger', 'exec']) {
      const written = await writeEmptyImage(join(work, `runledger-${version}-image-${name}.tar`), name);
      if (name === 'runledger') digest = written;
    }
  });
  after(() => rm(work, { recursive: true }));

  const run = async (program: string, ...args: string[]): Promise<string> => {
    const options = { env: environment, cwd: files, maxBuffer: 64 * 1024 * 1024 };
    return (await promisify(execFile)(program, args, options)).stdout;
  };
  it('has the same bytes from two clones in different folders', async () => {
    const compare = join(scripts, 'compare.sh');
    await promisify(execFile)(compare, [version, files, 'command', 'chart', 'sboms', 'bundle', 'sums'], {
      env: environment,
    });
    const names = (await readdir(files)).map((name) => name.replace(version, 'VERSION'));
    const systems = ['darwin', 'linux', 'windows'].flatMap((system) => [`${system}-amd64`, `${system}-arm64`]);
    expect(names).to.have.members([
      'SHA256SUMS',
      ...systems.map((system) => `runledger-VERSION-${system}${system.startsWith('windows') ? '.exe' : ''}`),
      ...['amd64.deb', 'amd64.rpm', 'arm64.deb', 'arm64.rpm'].map((name) => `runledger-VERSION-linux-${name}`),
      'runledger-VERSION-manual-and-completions.tar.gz',
      'runledger-VERSION-image.cdx.json',
      'runledger-VERSION-command.cdx.json',
      'runledger-VERSION-provenance.intoto.json',
      'runledger-VERSION-bundle.tar',
      'runledger-VERSION.tgz',
    ]);
  });

  it('has packages that dpkg installs, with the command and its manual page', async () => {
    const root = join(work, 'root');
    for (const folder of ['info', 'updates', 'triggers'])
      await mkdir(join(root, 'var/lib/dpkg', folder), { recursive: true });
    await writeFile(join(root, 'var/lib/dpkg/status'), '');
    const file = join(files, `runledger-${version}-linux-amd64.deb`);
    await run('dpkg', `--root=${root}`, '--log=/dev/null', '--install', file);
    expect(await run(join(root, 'usr/bin/runledger'), 'version')).to.equal(`${version}\n`);
    const listed = await run('dpkg', `--root=${root}`, '--listfiles', 'runledger');
    expect(listed)
      .to.match(/\/man1\/runledger\.1(\.gz)?$/m)
      .and.match(/bash-completion/);
  });

  it('names the key of whoever signs with one', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = join(work, 'cosign.pub');
    await writeFile(key, publicKey.export({ type: 'spki', format: 'pem' }));
    const url = 'https://people.example/cosign.pub';
    const chart = join(work, 'signed.tgz');
    const args = [join(repository, 'charts/runledger'), `ghcr.io/runledger/runledger:${version}`, digest, chart];
    await promisify(execFile)(join(scripts, 'chart.sh'), args, {
      env: { ...environment, SIGN_KEY: key, SIGN_KEY_URL: url },
    });
    const der = publicKey.export({ type: 'spki', format: 'der' });
    const shown = await helm(['show', 'chart', chart]);
    expect(shown)
      .to.include(`fingerprint: ${hash('sha256', der)}`)
      .and.include(`url: ${url}`);
  });

  it('has a command that knows its version, a chart that names the digest of the image, and complete SBOMs', async () => {
    expect(await run(join(files, `runledger-${version}-linux-amd64`), 'version')).to.equal(`${version}\n`);
    const rendered = await helm(['template', 'runledger', join(files, `runledger-${version}.tgz`)]);
    expect(rendered).to.include(`image: ghcr.io/runledger/runledger:${version}@${digest}`);
    const bom = async (of: string): Promise<string[]> => {
      const text = await readFile(join(files, `runledger-${version}-${of}.cdx.json`), 'utf8');
      const { components } = JSON.parse(text) as { components: { name: string }[] };
      return components.map(({ name }) => name);
    };
    const { dependencies } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
      dependencies: object;
    };
    expect(await bom('image')).to.include.members(Object.keys(dependencies));
    expect(await bom('command')).to.deep.equal(['std']);
  });

  it('is verified in a registry by the lines of the documentation, and a changed file is found', async () => {
    const registry = await ReleaseRegistry.start();
    try {
      for (const name of ['runledger', 'exec']) {
        const image = `runledger-${version}-image-${name}.tar`;
        await copyFile(join(work, image), join(files, image));
      }
      await registry.publish(version, files);
      const tags = await run(await releaseTool('crane'), 'ls', `${registry.owner}/charts/runledger`);
      expect(tags.split('\n')).to.include.members([version, 'artifacthub.io']);
      const said = await registry.verify(version, files);
      expect(said).to.include(digest.replace('sha256:', ''));
      expect(said).to.match(/^SHA256SUMS|: OK$/m);
      await helm([
        'pull',
        `oci://${registry.owner}/charts/runledger`,
        '--version',
        version,
        '--plain-http',
        '--destination',
        work,
      ]);
      const pulled = await readFile(join(work, `runledger-${version}.tgz`));
      expect(pulled.equals(await readFile(join(files, `runledger-${version}.tgz`)))).to.equal(true);
      expect(await registry.verify(version, files, 'other').then(String, String)).to.match(
        /no matching signatures|invalid signature|failed to verify/i,
      );
      await appendFile(join(files, `runledger-${version}-linux-amd64`), 'x');
      const refused = await registry
        .verify(version, files)
        .catch((error: unknown) => (error as { stdout: string }).stdout);
      expect(refused).to.include(`runledger-${version}-linux-amd64: FAILED`);
    } finally {
      await registry.stop();
    }
  });
});
