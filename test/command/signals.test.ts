import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { environmentWith, outcomeOf, reported } from '../support/exec.ts';
import { until } from '../support/until.ts';

/** Says that it is ready and which signals it gets; SIGUSR2 ends it with 7. */
const listening = `
  count=0
  for signal in HUP TERM INT QUIT USR1 ALRM; do trap "echo $signal" $signal; done
  trap 'exit 7' USR2
  echo $$ > ready
  while :; do sleep 0.05; done`;

describe('runledger exec and signals', () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-exec-'));
    env = environmentWith({
      RUNLEDGER_URL: 'https://127.0.0.1:1',
      RUNLEDGER_TOKEN: 'none',
      RUNLEDGER_SPOOL: join(folder, 'spool'),
    });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Resolves with the process id of the command once it is ready. */
  const ready = (): Promise<number> => {
    return until(
      'the command is ready',
      async () => Number(await readFile(join(folder, 'ready'), 'utf8').catch(() => 0)) || undefined,
    );
  };

  /** The state of a process, by the letter that proc(5) has for it. */
  const stateOf = async (pid: number): Promise<string> => {
    return /\) (\w)/.exec(await readFile(`/proc/${pid}/stat`, 'latin1'))?.[1] ?? '';
  };

  it('passes signals on once, and does not end before the command', async () => {
    const signals = ['SIGHUP', 'SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGALRM'] as const;
    const output = join(folder, 'output');
    const command = reported(['sh', '-c', `exec >${output}; ${listening}`]);
    const found = await outcomeOf(command, env, { cwd: folder, detached: true }, async (pid) => {
      await ready();
      for (const [index, signal] of signals.entries()) {
        process.kill(pid, signal);
        await until(signal, async () => (await readFile(output, 'utf8')).split('\n').length > index + 1);
      }
      process.kill(pid, 'SIGUSR2');
    });
    expect(found).to.include({ code: 7, signal: null });
    expect((await readFile(output, 'utf8')).trim().split('\n')).to.deep.equal(signals.map((signal) => signal.slice(3)));
  });

  for (const signal of ['SIGHUP', 'SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGUSR1'] as const) {
    it(`ends by ${signal} as a command ends that does not catch it`, async () => {
      const command = reported(['sh', '-c', 'echo $$ > ready; exec sleep 30']);
      const found = await outcomeOf(command, env, { cwd: folder, detached: true }, async (pid) => {
        await ready();
        process.kill(pid, signal);
      });
      expect(found).to.deep.equal({ code: null, signal, stdout: '', stderr: '' });
    });
  }

  it('ends the command with the group when the group gets SIGKILL', async () => {
    const command = reported(['sh', '-c', 'echo $$ > ready; exec sleep 30']);
    const found = await outcomeOf(command, env, { cwd: folder, detached: true }, async (pid) => {
      await ready();
      process.kill(-pid, 'SIGKILL');
    });
    expect(found.signal).to.equal('SIGKILL');
  });

  it('stops with the command at SIGTSTP, and continues with it', async () => {
    const command = reported(['sh', '-c', 'echo $$ > ready; while [ ! -e go ]; do sleep 0.05; done; exit 4']);
    // In a group of its own in this session, as a shell makes one; an orphaned group does not stop.
    const script = 'set -m; ("$@"; echo $? > code) & until [ -s code ]; do sleep 0.05; done';
    const monitored = ['bash', '-c', script, 'bash', ...command];
    await outcomeOf(monitored, env, { cwd: folder, detached: true }, async () => {
      const inner = await ready();
      const wrapper = Number(/\) \w (\d+)/.exec(await readFile(`/proc/${inner}/stat`, 'latin1'))?.[1]);
      process.kill(wrapper, 'SIGTSTP');
      await until('both are stopped', async () => (await stateOf(inner)) + (await stateOf(wrapper)) === 'TT');
      process.kill(wrapper, 'SIGCONT');
      await writeFile(join(folder, 'go'), '');
    });
    expect(await readFile(join(folder, 'code'), 'utf8')).to.equal('4\n');
  });

  it('leaves keys of the terminal to the terminal: the command gets each signal once', async () => {
    const output = join(folder, 'output');
    const words = reported(['sh', '-c', `exec >${output}; ${listening}`]).map(
      (word) => `'${word.replaceAll("'", `'\\''`)}'`,
    );
    const terminal = spawn('script', ['-qfec', `exec ${words.join(' ')}`, '/dev/null'], {
      cwd: folder,
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const pid = await ready();
    for (const [key, name] of [
      ['\u0003', 'INT'],
      ['\u001c', 'QUIT'],
      ['\u0003', 'INT'],
    ] as const) {
      const before = (await readFile(output, 'utf8')).length;
      terminal.stdin.write(key);
      await until(name, async () => (await readFile(output, 'utf8')).length > before);
    }
    process.kill(pid, 'SIGUSR2');
    const [code] = (await once(terminal, 'exit')) as [number];
    expect(code).to.equal(7);
    expect(await readFile(output, 'utf8')).to.equal('INT\nQUIT\nINT\n');
  });
});
