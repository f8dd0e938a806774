import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Child } from '../../support/child.ts';

const manifest = `
apiVersion: v1
kind: Secret
metadata: { name: acme, labels: { runledger.dev/organization: acme } }
stringData: { token: a-token-of-the-lifecycle-test }
`;

/** Starts test/support/run-process.ts with a behaviour, and with a deadline for its stop. */
function start(behaviour: string, stopWithinMs = 60_000): Child {
  return new Child(process.execPath, ['test/support/run-process.ts', behaviour, String(stopWithinMs)], {
    env: { PATH: process.env['PATH'] },
  });
}

async function started(behaviour: string, stopWithinMs?: number): Promise<Child> {
  const child = start(behaviour, stopWithinMs);
  await child.line(/ready/);
  return child;
}

describe('a process', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`stops gracefully on ${signal}, also after SIGHUP, and ends with 0`, async () => {
      const child = await started('well');
      child.process.kill('SIGHUP');
      await child.line(/SIGHUP ignored/);
      expect(await child.kill(signal)).to.equal(0);
      const order = child.output.join('\n');
      expect(order).to.match(/ready[^]*"stopping"[^]*\nstop\nstop done\n[^]*"stopped"/);
      expect(order).to.contain(`"signal":"${signal}"`);
    });
  }

  it('ends at once on a second signal, with 1, and not at the deadline', async () => {
    const child = await started('does not stop');
    child.process.kill('SIGTERM');
    await child.line(/^stop$/);
    expect(await child.kill('SIGINT')).to.equal(1);
    expect(child.output.join('\n')).to.not.contain('exiting');
  });

  for (const behaviour of ['does not stop', 'leaves something behind']) {
    it(`ends at the deadline, with 1, when it ${behaviour}`, async () => {
      const child = await started(behaviour, 1_000);
      expect(await child.kill('SIGTERM')).to.equal(1);
      expect(child.output.join('\n')).to.contain('exiting');
    });
  }

  it('ends with 1 and says why when it cannot start', async () => {
    const child = start('cannot start');
    expect(await child.exited).to.equal(1);
    expect(child.output.join('\n')).to.contain('port taken');
  });

  it('stops on a signal while it starts', async () => {
    const child = await started('starts for ever');
    expect(await child.kill('SIGTERM')).to.equal(0);
    expect(child.output).to.include('stop done');
  });

  for (const [name, behind] of [
    ['worker', 5],
    ['ingest', 0],
  ] as const) {
    it(`${name}: starts and stops gracefully while its servers are unavailable`, async function () {
      this.timeout(60_000);
      const folder = await mkdtemp(join(tmpdir(), 'runledger-lifecycle-'));
      await writeFile(join(folder, 'tokens.yaml'), manifest);
      const env = {
        PATH: process.env['PATH'],
        REDIS_URL: 'redis://127.0.0.1:1',
        DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
        PUBLIC_URL: 'https://runledger.example',
        TOKENS_FILE: join(folder, 'tokens.yaml'),
        PORT: '0',
        OPS_PORT: '0',
        DRAIN_DELAY_MS: '0',
      };
      const child = new Child(process.execPath, [`cmd/${name}/main.ts`], { env });
      await child.line(/"msg":"started"/);
      const priority = Math.min(getPriority() + behind, constants.priority.PRIORITY_LOW);
      expect(getPriority(child.process.pid), 'its priority').to.equal(priority);
      expect(await child.kill('SIGTERM'), child.output.join('\n')).to.equal(0);
      await rm(folder, { recursive: true });
    });
  }
});
