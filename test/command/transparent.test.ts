import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { automation, environmentWith, outcomeOf, reported } from '../support/exec.ts';

/** Programs whose exit code, signal, output or input could differ under a wrapper. */
const programs: Record<string, string> = {
  nothing: 'true',
  'exit code 1': 'false',
  'exit code 255': 'exit 255',
  'output on both': 'echo out; echo err >&2',
  'no line break at the end': 'printf out; printf err >&2',
  'bytes that are no text': String.raw`printf '\377\000\376'; printf '\000\200\n' >&2`,
  'much on standard error': 'seq 1 200000 >&2',
  'much on both': 'seq 1 50000; seq 1 50000 >&2; seq 1 50000',
  'a file for standard error': 'echo err > /dev/stderr; echo err | tee /dev/stderr',
  'the kind of its files': 'for fd in 0 1 2; do stat -L -c %F /dev/fd/$fd; test -t $fd && echo terminal; done',
  limits: 'ulimit -a',
  'signals that are ignored': 'grep SigIgn /proc/self/status',
  'open descriptors': 'ls /proc/self/fd',
  // But what names the run, and the token.
  'the environment': 'env | sort | grep -vE "^(_|RUNLEDGER_(TOKEN|RECEIVER|AUTOMATION_ID|EXECUTION_ID))="',
  'mask and folder': 'umask; pwd',
  'its group': 'test $(ps -o pgid= $$) = $(ps -o pgid= $PPID); echo $?',
  'an unread pipe': 'yes 2>&1 | head -1',
  'a child that outlives it': '(sleep 0.3; echo late >&2) & echo early >&2',
  'a program that is not there': 'nosuchprogram 2>/dev/null || echo $?',
  ...Object.fromEntries(
    ['HUP', 'INT', 'QUIT', 'KILL', 'PIPE', 'TERM', 'SEGV', 'ABRT', 'USR1', 'XFSZ'].map((signal) => [
      `killed by SIG${signal}`,
      `echo out; echo err >&2; kill -${signal} $$; sleep 5`,
    ]),
  ),
};

describe('runledger exec', () => {
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

  for (const [name, script] of Object.entries(programs)) {
    it(`changes nothing for a program: ${name}`, async () => {
      const command = ['sh', '-c', script];
      const plain = await outcomeOf(command, env, { cwd: folder });
      expect(await outcomeOf(reported(command), env, { cwd: folder })).to.deep.equal(plain);
    });

    // How a signal is passed on does not depend on the outputs: one is enough.
    if (name.startsWith('killed by') && name !== 'killed by SIGTERM') continue;
    it(`changes nothing for a program, both outputs in one pipe: ${name}`, async () => {
      const joined = (command: string[]): string[] => ['sh', '-c', 'exec "$@" 2>&1', 'sh', ...command];
      const command = ['sh', '-c', script];
      const plain = await outcomeOf(joined(command), env, { cwd: folder });
      expect(await outcomeOf(joined(reported(command)), env, { cwd: folder })).to.deep.equal(plain);
    });
  }

  it('keeps the order of both outputs in one pipe and in one file, also where it reads both', async () => {
    const command = ['sh', '-c', 'for n in $(seq 1 2000); do echo $n; echo $n >&2; done'];
    const numbers = Array.from({ length: 2_000 }, (_, index) => `${index + 1}\n${index + 1}\n`).join('');
    for (const options of [[], ['--tail']]) {
      const piped = await outcomeOf(['sh', '-c', 'exec "$@" 2>&1', 'sh', ...reported(command, options)], env);
      expect(piped.stdout === numbers, 'in one pipe').to.equal(true);
      const file = join(folder, 'both');
      await outcomeOf(['sh', '-c', `exec "$@" >${file} 2>&1`, 'sh', ...reported(command, options)], env);
      expect((await readFile(file, 'utf8')) === numbers, 'in one file').to.equal(true);
    }
  });

  it('gives standard input to the program', async () => {
    const script = 'printf hello | "$@"';
    const found = await outcomeOf(['sh', '-c', script, 'sh', ...reported(['cat'])], env);
    expect(found).to.include({ code: 0, stdout: 'hello' });
  });

  it('gives descriptors beyond 2, a limit and ignored signals to the program', async () => {
    const file = join(folder, 'three');
    const inner = 'echo three >&3; ulimit -n; grep SigIgn /proc/self/status';
    const outer = (command: string[]): string[] => {
      return ['sh', '-c', `trap "" HUP USR1; ulimit -n 777; exec 3>${file}; exec "$@"`, 'sh', ...command];
    };
    const plain = await outcomeOf(outer(['sh', '-c', inner]), env);
    await rm(file);
    expect(await outcomeOf(outer(reported(['sh', '-c', inner])), env)).to.deep.equal(plain);
    expect(await readFile(file, 'utf8')).to.equal('three\n');
  });

  it('reaps orphans where it is process 1', async function container() {
    const asFirst = ['unshare', '--pid', '--fork', '--mount-proc'];
    if ((await outcomeOf([...asFirst, 'true'], env)).code !== 0) {
      console.log('      skipped: this process may not make a namespace');
      this.skip();
    }
    // `cat` ends once each orphan has closed the pipe.
    const script = `
      for n in 1 2 3 4 5; do (sleep 0.1 &); done | cat
      tries=50; zombies() { ps -eo stat= | grep -c ^Z; }
      while [ $(zombies) != 0 ] && [ $tries != 0 ]; do tries=$((tries - 1)); done
      echo $(zombies) zombies; exit 3`;
    const found = await outcomeOf([...asFirst, ...reported(['sh', '-c', script])], env);
    expect(found).to.deep.equal({ code: 3, signal: null, stdout: '0 zombies\n', stderr: '' });
  });

  it('lets a program of another user open /dev/stderr where it could without `exec`', async function root() {
    if (process.getuid?.() !== 0) {
      console.log('      skipped: only root may act as another user');
      this.skip();
    }
    const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
    const command = [...asNobody, 'sh', '-c', 'stat -L -c "%a %u %g" /dev/stderr; echo x > /dev/stderr; echo $?'];
    await chmod(folder, 0o755);
    const codes: string[] = [];
    for (const [mode, owner] of [
      ['666', 0],
      ['600', 65_534],
      ['600', 0],
    ] as const) {
      const file = join(folder, `${mode} ${owner}`);
      await writeFile(file, '');
      await chmod(file, Number.parseInt(mode, 8));
      await chown(file, owner, owner);
      for (const target of [file, '/dev/null']) {
        const to = (words: string[]): string[] => ['sh', '-c', 'exec "$@" 2>>"$0"', target, ...words];
        const plain = await outcomeOf(to(command), env);
        expect(await outcomeOf(to(reported(command)), env)).to.deep.equal(plain);
        codes.push(plain.stdout.trim().split('\n').at(-1) ?? '');
      }
    }
    expect(codes).to.deep.equal(['0', '0', '0', '0', '2', '0']);
  });

  it('gives the program its terminal', async () => {
    const script = 'for fd in 0 1 2; do test -t $fd && echo terminal; done; tty; stty size; exit 3';
    const inTerminal = (command: string[]): string[] => {
      return ['script', '-qfec', command.map((word) => `'${word}'`).join(' '), '/dev/null'];
    };
    const plain = await outcomeOf(inTerminal(['sh', '-c', script]), env);
    const found = await outcomeOf(inTerminal(reported(['sh', '-c', script])), env);
    const withoutName = (text: string): string => text.replaceAll(/pts\/\d+/g, 'pts/N');
    expect(withoutName(found.stdout)).to.equal(withoutName(plain.stdout)).and.include('terminal');
    expect(found.code).to.equal(3);
  });

  it('ends with 127 or 126 and a sentence when the program cannot run', async () => {
    expect(await outcomeOf(reported(['nosuch']), env)).to.deep.equal({
      code: 127,
      signal: null,
      stdout: '',
      stderr: 'runledger: nosuch: No such file or directory\n',
    });
    expect(await outcomeOf(reported(['/etc/passwd']), env)).to.include({
      code: 126,
      stderr: 'runledger: /etc/passwd: Permission denied\n',
    });
  });

  const wrong: Record<string, [string[], RegExp]> = {
    'no automation': [['exec', '--', 'true'], /--automation is required/],
    'an automation that is no UUID': [['exec', '--automation', 'x', '--', 'true'], /--automation must be a UUID/],
    'an execution that no address can hold': [
      ['exec', '--automation', automation, '--execution', '..', '--', 'true'],
      /--execution must not be \. or \.\./,
    ],
    'no command': [['exec', '--automation', 'x'], /no command follows "--"/],
    'an unknown option': [['exec', '--colour', '--', 'true'], /unknown option "--colour"/],
    'a command without "--"': [['exec', 'ls', '-l'], /unexpected argument "ls": the command follows "--"/],
  };
  for (const [name, [args, message]] of Object.entries(wrong)) {
    it(`refuses ${name} with 125, and says which`, async () => {
      const [launcher = ''] = reported([]);
      const found = await outcomeOf([launcher, ...args], env);
      expect(found.code).to.equal(125);
      expect(found.stderr).to.match(message);
    });
  }
});
