import { execFile } from 'node:child_process';
import { appendFile, copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { Child } from '../support/child.ts';
import { documentBlocks } from '../support/document-blocks.ts';
import { freePort } from '../support/free-port.ts';
import { findHelm } from '../support/helm-binaries.ts';
import { helm, repository } from '../support/helm.ts';
import { writeEmptyImage } from '../support/oci-layout.ts';
import { until } from '../support/until.ts';
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
  const tool = async (name: string): Promise<string> =>
    (await promisify(execFile)(join(scripts, 'tool.sh'), [name])).stdout.trim();

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
    const address = `127.0.0.1:${await freePort()}`;
    const registry = new Child(await tool('crane'), ['registry', 'serve', '--address', address]);
    try {
      const serves = () =>
        fetch(`http://${address}/v2/`).then(
          ({ ok }) => ok,
          () => false,
        );
      await until('the registry serves', serves, 30_000);
      const cosign = await tool('cosign');
      environment = { ...environment, PATH: `${dirname(cosign)}:${environment['PATH']}`, COSIGN_PASSWORD: 'x' };
      await run(cosign, 'generate-key-pair', '--output-key-prefix', join(work, 'own'));
      await run(cosign, 'generate-key-pair', '--output-key-prefix', join(work, 'other'));
      for (const name of ['runledger', 'exec']) {
        const image = `runledger-${version}-image-${name}.tar`;
        await copyFile(join(work, image), join(files, image));
      }
      const published = { KEY: join(work, 'own.key'), PLAIN_HTTP: '1' };
      await promisify(execFile)(join(scripts, 'publish.sh'), [version, files, `${address}/runledger`], {
        env: { ...environment, ...published },
      });
      const lines = documentBlocks()
        .filter(({ file, mark }) => file.endsWith('verify-a-release.md') && mark === 'release')
        .map(({ content }) => content.replaceAll('ghcr.io', address))
        .join('\n');
      const verify = (key: string): Promise<string> => {
        const own = `--key=${join(work, key)}.pub --insecure-ignore-tlog=true`;
        return run('bash', '-ec', lines.replace(/IDENTITY=".*"/, `IDENTITY="${own}"`));
      };
      const said = await verify('own');
      expect(said).to.include(digest.replace('sha256:', ''));
      expect(said).to.match(/^SHA256SUMS|: OK$/m);
      await helm([
        'pull',
        `oci://${address}/runledger/charts/runledger`,
        '--version',
        version,
        '--plain-http',
        '--destination',
        work,
      ]);
      const pulled = await readFile(join(work, `runledger-${version}.tgz`));
      expect(pulled.equals(await readFile(join(files, `runledger-${version}.tgz`)))).to.equal(true);
      expect(await verify('other').then(String, String)).to.match(
        /no matching signatures|invalid signature|failed to verify/i,
      );
      await appendFile(join(files, `runledger-${version}-linux-amd64`), 'x');
      const refused = await verify('own').catch((error: unknown) => (error as { stdout: string }).stdout);
      expect(refused).to.include(`runledger-${version}-linux-amd64: FAILED`);
    } finally {
      await registry.kill('SIGTERM');
    }
  });
});
