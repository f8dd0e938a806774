import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { render, repository } from '../support/helm.ts';
import { theContainer, thePod, type Container, type PodSpec } from '../support/helm-manifests.ts';
import { nodeOptionsOfImage } from '../support/image-environment.ts';
import { runContainer, type RunningContainer } from '../support/node/container.ts';
import { Image } from '../support/node/image.ts';
import { PodNetwork } from '../support/node/network.ts';
import { command } from '../support/node/programs.ts';

describe('the image', function () {
  this.timeout(900_000);
  let image: Image;
  let network: PodNetwork;
  let folder: string;
  let pod: PodSpec;
  let container: Container;

  before(async () => {
    image = await Image.build();
    network = await PodNetwork.create();
    folder = await mkdtemp(join(tmpdir(), 'runledger-image-'));
    const manifests = await render();
    pod = thePod(manifests, 'runledger-ingest');
    container = theContainer(manifests, 'runledger-ingest');
  });
  after(async () => {
    await network?.[Symbol.asyncDispose]();
    await image?.[Symbol.asyncDispose]();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  let runs = 0;
  /** A container with the rights that the chart gives ingest, and these arguments and variables. */
  const start = (args: string[], environment: string[] = []): Promise<RunningContainer> => {
    runs += 1;
    const options = { image, folder: join(folder, String(runs)), network: network.node.namespace, environment };
    return runContainer(pod, { ...container, args }, { ...options, mounts: [], hosts: {} });
  };

  it('says what it is, and runs as a user that is not root', async () => {
    expect(image.config.User).to.equal('10001:10001');
    expect(image.config.Entrypoint).to.deep.equal(['node', ...nodeOptionsOfImage()]);
    expect(image.config.Labels).to.include({
      'org.opencontainers.image.title': 'Runledger',
      'org.opencontainers.image.licenses': 'Apache-2.0',
    });
  });

  it('holds what runs, and nothing else', async () => {
    const inside = (await command('find', join(image.rootfs, 'app'), '-maxdepth', '1', '-printf', '%f\n')).split('\n');
    const wanted = ['app', 'node_modules', 'package.json', 'LICENSE', 'internal', 'cmd', '.compile-cache', ''];
    expect(inside).to.have.members(wanted);
    for (const absent of ['app/node_modules/typescript', 'app/node_modules/mocha', 'usr/local/bin/npm']) {
      const found = await access(join(image.rootfs, absent)).then(
        () => true,
        () => false,
      );
      expect(found, absent).to.equal(false);
    }
    const settings = await readFile(join(image.rootfs, 'root/.npmrc'), 'utf8').catch(() => '');
    expect(settings, "no settings of the builder's registry").to.equal('');
    expect(image.size.own / 1e6, 'MB on top of the base').to.be.lessThan(110);
    console.log(
      `      image: ${image.size.whole / 1e6} MB, of these ${Math.round(image.size.own / 1e6)} MB on top of the base`,
    );
  });

  it('brings its source along, stripped of types and compiled', async () => {
    const script = `
      const { readdirSync } = require('node:fs');
      console.log('compiled:', readdirSync(require('node:module').getCompileCacheDir()).length);`;
    const look = await start(['--eval', script]);
    const line = await look.process.line(/^compiled:/);
    expect(Number(line.split(' ').at(-1))).to.be.greaterThan(100);
    await look.process.exited;
  });

  it('lets its user write nothing', async () => {
    const writable = ['(', '-user', '10001', '-o', '-group', '10001', '-o', '-perm', '-o+w', ')'];
    const everything = ['-not', '-type', 'l', '-not', '-perm', '-1000', '-not', '-type', 'c', '-print'];
    const found = await command('find', image.rootfs, '-xdev', ...writable, ...everything);
    expect(found).to.equal('');
    const attempt = await start(['--eval', `require('node:fs').writeFileSync('/app/x', '')`]);
    expect(await attempt.process.exited).to.equal(1);
    expect(attempt.process.output.join('\n')).to.include('EROFS');
  });

  it('runs without capabilities and without a way to get any', async () => {
    const look = await start(['--print', `require('node:fs').readFileSync('/proc/self/status', 'utf8')`]);
    expect(await look.process.exited).to.equal(0);
    const status = look.process.output.join('\n');
    expect(status).to.match(/^Uid:\s+10001\s/m);
    for (const set of ['CapEff', 'CapPrm', 'CapBnd']) expect(status).to.match(new RegExp(`^${set}:\\s+0+$`, 'm'));
    expect(status).to.match(/^NoNewPrivs:\s+1$/m);
  });

  for (const name of ['ingest', 'worker', 'migrate']) {
    it(`says in one line what ${name} lacks`, async () => {
      const lacking = await start([`cmd/${name}/main.ts`]);
      expect(await lacking.process.exited).to.equal(1);
      expect(lacking.process.output).to.have.length(1);
      expect(lacking.process.output[0]).to.match(/^runledger: [A-Z_]+ is required/);
    });
  }

  it('mints tokens', async () => {
    const token = await start(['cmd/token/main.ts', 'create', '--organization', 'acme']);
    expect(await token.process.exited).to.equal(0);
    expect(token.process.output.join('\n')).to.include('runledger.dev/organization: acme');
  });

  it('hears the signal to stop as the first process', async () => {
    const worker = await start(
      ['cmd/worker/main.ts'],
      ['REDIS_URL=redis://127.0.0.1:1', 'DATABASE_URL=postgres://127.0.0.1:1/none', 'LOG_LEVEL=info'],
    );
    await worker.process.line(/"started"/);
    expect(await worker.stop('SIGTERM')).to.equal(0);
  });

  it('is built from a list of files', async () => {
    const ignore = await readFile(join(repository, '.dockerignore'), 'utf8');
    expect(ignore.split('\n').filter((line) => line !== '' && !/^[#!]/.test(line))).to.deep.equal(['*']);
  });
});
