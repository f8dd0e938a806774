import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect } from 'chai';
import { Child } from '../support/child.ts';
import { freePort } from '../support/free-port.ts';
import { renderWith } from '../support/helm.ts';
import { objectOf, secretFilesOf, secretsFolder, theContainer } from '../support/helm-manifests.ts';

describe('chart, the command of the bundled Redis', () => {
  it('takes any password from its file, shows it to no other process, and gets signals', async () => {
    const password = `a "quoted" \\ back$slash's %41 #`;
    await using folder = await mkdtempDisposable(join(tmpdir(), 'runledger-redis-'));
    const manifests = await renderWith();
    const container = theContainer(manifests, 'runledger-redis');
    const [file = ''] = secretFilesOf(container);
    await mkdir(join(folder.path, 'runledger-redis'));
    await writeFile(join(folder.path, file), `${password}\n`);
    const { data } = objectOf(manifests, 'ConfigMap', 'runledger-redis') as unknown as {
      data: { 'redis.conf': string };
    };
    const port = await freePort();
    const config = `${data['redis.conf']}\nport ${port}\n`.replace('dir /data', `dir ${folder.path}`);
    await writeFile(join(folder.path, 'redis.conf'), config);
    const [program = '', ...options] = [...(container.command ?? []), ...(container.args ?? [])].map((argument) =>
      argument.replaceAll(secretsFolder, `${folder.path}/`).replaceAll('/etc/redis/', `${folder.path}/`),
    );

    const server = new Child(program, options, {});
    await server.line(/Ready to accept connections/);
    const redis = new Redis({ port, password });
    try {
      expect(await redis.ping()).to.equal('PONG');
      expect(await redis.config('GET', 'appendfsync')).to.deep.equal(['appendfsync', 'always']);
      for (const shown of ['cmdline', 'environ']) {
        expect(await readFile(`/proc/${server.process.pid}/${shown}`, 'utf8'), shown).not.to.include('quoted');
      }
    } finally {
      redis.disconnect();
      expect(await server.kill('SIGTERM')).to.equal(0);
    }
  });
});
