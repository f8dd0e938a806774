import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { automation, outcomeOf, program, reported, runledger, type Outcome } from '../support/exec.ts';
import { SmallDisk } from '../support/fault/small-disk.ts';
import { token } from '../support/pipeline.ts';
import { suiteExec } from '../support/suite-exec.ts';
import { until } from '../support/until.ts';

describe('runledger exec and the record', () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;

  const exec = suiteExec();
  const { suite } = exec;

  beforeEach(() => {
    ({ folder, env } = exec);
  });

  /** Runs a shell script under `exec`. */
  const run = (script: string, settings: NodeJS.ProcessEnv = {}, options: string[] = []): Promise<Outcome> => {
    return outcomeOf(reported(['sh', '-c', script], options), { ...env, ...settings });
  };

  /** The kinds of the events of each execution, in the order of their times. */
  const runs = async (): Promise<string[]> => {
    const stored = await suite.stored();
    const grouped = Map.groupBy(stored, ({ executionId }) => executionId);
    return [...grouped.values()].map((events) => events.map(({ kind }) => kind).join(' '));
  };

  /** The names of the files in the spool. */
  const spooled = async (spool = join(folder, 'spool')): Promise<string[]> => {
    const names = await readdir(spool, { recursive: true }).catch(() => []);
    return names.filter((name) => name.endsWith('.json'));
  };

  const away = { RUNLEDGER_URL: 'https://127.0.0.1:1' };

  it('records START and END of a command that succeeds, and leaves nothing in the spool', async () => {
    expect(await run('echo out', {}, ['--execution', 'run 1', '--description', 'nightly'])).to.include({ code: 0 });
    const [start, end] = await suite.stored();
    const same = { automationId: automation, executionId: 'run 1' };
    expect(start).to.include({ ...same, kind: 'START', description: 'nightly' });
    expect(end).to.include({ ...same, kind: 'END' });
    expect(end?.description).to.match(/^Ended with exit code 0 after \d+\.\d s$/);
    expect(await spooled()).to.deep.equal([]);
  });

  const failures: Record<string, [string, Partial<AcceptedEvent>]> = {
    'an exit code': [
      String.raw`printf '\033[31mcannot reach db\033[0m\nretry later\n' >&2; exit 3`,
      { errorId: '3', errorDescription: 'cannot reach db\nretry later' },
    ],
    'a signal': ['echo dying >&2; kill -TERM $$', { errorId: 'SIGTERM', errorDescription: 'dying' }],
    'much on standard error': [
      'seq 1 100000 >&2; exit 1',
      { errorDescription: Array.from({ length: 20 }, (_, index) => 99_981 + index).join('\n') },
    ],
    'a NUL and bytes that are no text': [
      String.raw`printf 'a\000b\377\n' >&2; exit 1`,
      { errorDescription: 'ab\ufffd' },
    ],
  };
  for (const [name, [script, expected]] of Object.entries(failures)) {
    it(`records ERROR and END after ${name}, with the last lines of standard error`, async () => {
      await run(script);
      const [start, error, end] = await suite.stored();
      expect([start?.kind, error?.kind, end?.kind]).to.deep.equal(['START', 'ERROR', 'END']);
      expect(error).to.include(expected);
    });
  }

  it('cuts a description that is too long to be recorded', async () => {
    await run('true', {}, ['--execution', '🙂'.repeat(255), '--description', '🙂'.repeat(10_001)]);
    expect(await runs()).to.deep.equal(['START END']);
    expect((await suite.stored())[0]?.description).to.equal('🙂'.repeat(10_000));
  });

  const tooLong: Record<string, [string, string]> = {
    'characters of three bytes': ["for n in $(seq 20); do printf 'エラー%.0s' $(seq 1500); echo; done", 'エラー'],
    'control characters': [String.raw`head -c 60000 /dev/zero | tr '\0' '\001'`, '\u0001'],
  };
  for (const [name, [script, sample]] of Object.entries(tooLong)) {
    it(`records ERROR with as much of the last lines as a request may hold, after many ${name}`, async () => {
      await run(`{ ${script}; } >&2; exit 7`);
      expect(await runs()).to.deep.equal(['START ERROR END']);
      const text = (await suite.stored())[1]?.errorDescription ?? '';
      expect(Buffer.byteLength(JSON.stringify(text))).to.be.within(190_000, 200_002);
      expect(text.endsWith(sample)).to.equal(true);
    });
  }

  it('sends an ERROR without its text when Runledger finds the request too large', async () => {
    const run = ['--automation', automation, '--execution', 'run 1'];
    const event = runledger('event', 'error', 'No answer', '--detail', '\u0001'.repeat(60_000), ...run);
    expect(await outcomeOf(event, env)).to.include({ code: 0, stderr: '' });
    const [error] = await suite.stored();
    expect(error).to.include({ kind: 'ERROR', description: 'No answer', errorDescription: '' });
  });

  it('has the last lines, and nothing of others, when standard error is a file or /dev/null', async () => {
    const file = join(folder, 'log');
    await writeFile(file, 'of an earlier run\n');
    for (const target of [`>>${file}`, '>/dev/null']) {
      await outcomeOf(
        [
          'sh',
          '-c',
          `exec "$@" 2${target}`,
          'sh',
          ...reported(['sh', '-c', `echo of another process >>${file}; echo here >&2; exit 1`]),
        ],
        env,
      );
    }
    const errors = (await suite.stored()).filter(({ kind }) => kind === 'ERROR');
    expect(errors.map(({ errorDescription }) => errorDescription)).to.deep.equal(['here', 'here']);
  });

  it('leaves standard error alone with --no-tail', async () => {
    await run('echo secret >&2; exit 1', {}, ['--no-tail']);
    const error = (await suite.stored()).find(({ kind }) => kind === 'ERROR');
    expect(error?.errorDescription).to.equal('');
  });

  it('starts the command before Runledger has answered', async () => {
    // Without an answer, connecting takes longer than a test may.
    const found = await run('echo started', { RUNLEDGER_URL: 'https://192.0.2.1', RUNLEDGER_TIMEOUT_MS: '300' });
    expect(found).to.deep.equal({ code: 0, signal: null, stdout: 'started\n', stderr: '' });
  });

  /** What is wrong outside is told by --verbose only; what a person must mend, in one line. */
  const broken: Record<string, [NodeJS.ProcessEnv, string?]> = {
    'Runledger does not answer': [away],
    'its name does not resolve': [{ RUNLEDGER_URL: 'https://runledger.invalid' }],
    'the proxy does not answer': [{ HTTPS_PROXY: 'http://127.0.0.1:1', RUNLEDGER_URL: 'https://runledger.example' }],
    'the token is wrong': [{ RUNLEDGER_TOKEN: 'wrong' }],
    'the certificate is not trusted': [{ RUNLEDGER_CA_FILE: '' }],
    'its address is missing': [{ RUNLEDGER_URL: '' }, '--url (RUNLEDGER_URL) is required: the https:// address of …'],
    'its address is not https': [{ RUNLEDGER_URL: 'http://x' }, '--url (RUNLEDGER_URL) must be an https:// address …'],
    'the token is missing': [{ RUNLEDGER_TOKEN: '' }, 'RUNLEDGER_TOKEN or --token-file (RUNLEDGER_TOKEN_FILE) …'],
    'the token file is missing': [
      { RUNLEDGER_TOKEN: '', RUNLEDGER_TOKEN_FILE: '/none' },
      '--token-file (RUNLEDGER_TOKEN_FILE) names an unreadable file: /none (ENOENT)',
    ],
    'the file of certificates is missing': [
      { RUNLEDGER_CA_FILE: '/none' },
      '--ca-file (RUNLEDGER_CA_FILE) names an unreadable file: /none (ENOENT)',
    ],
    'a number is wrong': [{ RUNLEDGER_TIMEOUT_MS: 'soon' }, '--timeout-ms (RUNLEDGER_TIMEOUT_MS) must be a whole …'],
  };
  for (const [name, [settings, said]] of Object.entries(broken)) {
    it(`runs the command, unchanged, and says ${said === undefined ? 'nothing' : 'one line'}, when ${name}`, async () => {
      const given = { RUNLEDGER_TIMEOUT_MS: '500', ...settings };
      const { stderr, ...found } = await run('echo out; echo err >&2; exit 5', given);
      expect(found).to.deep.equal({ code: 5, signal: null, stdout: 'out\n' });
      const [begin = '', isCut] = said?.split('…') ?? [];
      if (said === undefined) expect(stderr).to.equal('err\n');
      else if (isCut === undefined) expect(stderr).to.equal(`err\nrunledger: cannot report this run: ${begin}\n`);
      else expect(stderr.split('\n')).to.have.lengthOf(3).and.nested.property('[1]').that.include(begin);
    });
  }

  /** As a user of a number that no list of users has, and who is not root. */
  const asNobody = ['unshare', '--user', '--map-user=54321'];
  const noHome = 'this user has no home directory; set --spool \\(RUNLEDGER_SPOOL\\)';
  const unspoolable: Record<string, [NodeJS.ProcessEnv, string, string[]?]> = {
    'its folder is below no folder': [{ RUNLEDGER_SPOOL: '/dev/null/spool' }, 'mkdir /dev/null: not a directory'],
    'its folder cannot be made': [{ RUNLEDGER_SPOOL: '/proc/spool' }, 'mkdir /proc/spool: no such file or directory'],
    'its bound is wrong': [{ RUNLEDGER_SPOOL_MAX_EVENTS: 'many' }, 'RUNLEDGER_SPOOL_MAX_EVENTS must be .*'],
    'its folder is read-only': [{}, 'mkdir .*/spool/.*: permission denied', asNobody],
    'the user has no home': [{ RUNLEDGER_SPOOL: undefined, HOME: undefined }, noHome, asNobody],
    'the home is empty': [{ RUNLEDGER_SPOOL: undefined, HOME: '' }, noHome, asNobody],
  };
  for (const [name, [settings, reason, as = []]] of Object.entries(unspoolable)) {
    it(`runs the command, sends its events, and says once that there is no spool, when ${name}`, async function user() {
      if (as.length > 0 && (await outcomeOf([...as, 'true'], env)).code !== 0) {
        console.log('      skipped: this process may not act as another user');
        this.skip();
      }
      await mkdir(join(folder, 'spool'), { mode: 0o500 });
      const command = reported(['sh', '-c', 'echo out; echo err >&2; exit 5']);
      const { stderr, ...found } = await outcomeOf([...as, ...command], { ...env, ...settings });
      expect(found).to.deep.equal({ code: 5, signal: null, stdout: 'out\n' });
      expect(stderr).to.match(new RegExp(`^err\nrunledger: cannot spool events: ${reason}\n$`));
      expect(await runs()).to.deep.equal(['START ERROR END']);
    });
  }

  it('sends nothing that another user put into the spool, or may put there', async () => {
    await run('true', { RUNLEDGER_TOKEN_FILE: join(folder, 'token'), RUNLEDGER_TOKEN: '' });
    await writeFile(join(folder, 'token'), token);
    const [receiver = ''] = await readdir(join(folder, 'spool'));
    const own = join(folder, 'spool', receiver);
    expect(await spooled()).to.have.lengthOf(2);
    const untrusted: [() => Promise<void>, RegExp][] = [
      [() => chmod(own, 0o770), /^runledger: .* is open to other users: chmod 700 it\n$/],
      [() => chmod(own, 0o700).then(() => chown(own, 54_321, 54_321)), /^runledger: .* belongs to another user\n$/],
    ];
    for (const [change, message] of untrusted) {
      await change();
      const flushed = await outcomeOf(runledger('flush', '--token-file', join(folder, 'token')), env);
      expect(flushed.code).to.equal(1);
      expect(flushed.stderr).to.match(message);
      expect(await runs()).to.deep.equal([]);
    }
  });

  describe('inside the command', () => {
    const inside = (script: string, settings: NodeJS.ProcessEnv = {}, options: string[] = []): Promise<Outcome> =>
      run(script.replaceAll('runledger', program), settings, ['--execution', 'run 1', ...options]);

    it('has the names of its run, and no token', async () => {
      const { stdout } = await inside('env | grep -o "^RUNLEDGER_[A-Z_]*ID=.*" | sort; env | grep -c TOKEN=');
      expect(stdout).to.equal(`RUNLEDGER_AUTOMATION_ID=${automation}\nRUNLEDGER_EXECUTION_ID=run 1\n0\n`);
    });

    it('adds events to its run, which `exec` sends where the token is no file', async () => {
      const script =
        'runledger event warning "3 rows skipped"; runledger event error "No answer" --id SMTP-421; sleep 3';
      for (const settings of [{}, { RUNLEDGER_TOKEN: '', RUNLEDGER_TOKEN_FILE: join(folder, 'token') }]) {
        await suite.redis.command('flushall');
        await writeFile(join(folder, 'token'), token);
        expect(await inside(script, settings)).to.deep.equal({ code: 0, signal: null, stdout: '', stderr: '' });
        const stored = await suite.stored();
        const texts = stored.map(({ kind, errorId, description }) => [kind, errorId, description].join('|'));
        expect(texts.slice(0, -1)).to.have.members([
          'START||sh',
          'WARNING||3 rows skipped',
          'ERROR|SMTP-421|No answer',
        ]);
        expect(texts.at(-1)).to.match(/^END/);
        expect(new Set(stored.map(({ executionId }) => executionId))).to.deep.equal(new Set(['run 1']));
      }
    });

    it('refuses an event without a run, or of no kind', async () => {
      const wrong: [string[], RegExp][] = [
        [['warning', 'x'], /--automation is required outside of runledger exec/],
        [['finish'], /the first argument must be start, event, warning, error or end/],
        [['warning', 'x', '--automation', automation, '--execution', '.'], /--execution must not be \. or \.\./],
        [['warning', '3', 'rows'], /unexpected argument "rows": quote a text of several words/],
        [
          ['warning', 'x', '--id', '1', '--automation', automation, '--execution', '1'],
          /--id and --detail are for an error/,
        ],
      ];
      for (const [args, message] of wrong) {
        const { code, stderr } = await outcomeOf(runledger('event', ...args), env);
        expect(stderr).to.match(message);
        expect(code).to.equal(2);
      }
    });
  });

  it('spools every event while Runledger takes a connection and never answers', async () => {
    const server = createServer().listen(0);
    await once(server, 'listening');
    const sockets: Socket[] = [];
    server.on('connection', (socket) => sockets.push(socket));
    try {
      const { port } = server.address() as AddressInfo;
      const settings = { RUNLEDGER_URL: `https://localhost:${port}`, RUNLEDGER_TIMEOUT_MS: '1000' };
      expect(await run('exit 1', settings)).to.include({ code: 1, stderr: '' });
      expect(await spooled()).to.have.lengthOf(3);
    } finally {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    }
  });

  it('spools every event also where it may not wait for Runledger', async () => {
    for (const ms of ['0', '1', '0', '1']) {
      const settings = { ...away, RUNLEDGER_TIMEOUT_MS: ms };
      expect(await run('exit 1', settings)).to.include({ code: 1, stderr: '' });
      const event = runledger('event', 'event', 'x', '--automation', automation, '--execution', 'run 1');
      expect(await outcomeOf(event, { ...env, ...settings })).to.include({ code: 0, stderr: '' });
    }
    expect(await spooled()).to.have.lengthOf(16);
  });

  it('says with --verbose, after the output of the command, what it could not send', async () => {
    const settings = { ...away, RUNLEDGER_SPOOL: '/dev/null/spool', RUNLEDGER_TIMEOUT_MS: '500' };
    const { stderr } = await run('echo err >&2', settings, ['--verbose']);
    expect(stderr).to.match(/^err\nrunledger: cannot spool events: .*\n(runledger: Runledger does not answer: .*\n)+$/);
  });

  it('sends at the next run what it could not send, with its time, in order', async () => {
    const before = Date.now();
    env = { ...env, RUNLEDGER_TOKEN_FILE: join(folder, 'token'), RUNLEDGER_TOKEN: '' };
    // The token file is missing: the receiver is the same when it is there.
    await run('sleep 0.3; exit 3', {}, ['--execution', 'first']);
    const after = Date.now();
    expect(await spooled()).to.have.lengthOf(3);
    await writeFile(join(folder, 'token'), token);
    await run('true', {}, ['--execution', 'second']);
    expect((await runs()).toSorted()).to.deep.equal(['START END', 'START ERROR END'].toSorted());
    expect(await spooled()).to.deep.equal([]);
    const first = (await suite.stored()).filter(({ executionId }) => executionId === 'first');
    for (const { occurredAt } of first) expect(occurredAt).to.be.within(before, after);
    const [start = 0, error, end] = first.map(({ occurredAt }) => occurredAt);
    expect([start + 300 <= (error ?? 0), error === end]).to.deep.equal([true, true]);
    for (const { createdAt } of first) expect(createdAt).to.be.at.least(after);
  });

  it('records a run whose process was killed once, when the next one sends it', async () => {
    await outcomeOf(
      reported(['sleep', '30'], ['--execution', 'killed']),
      { ...env, RUNLEDGER_TOKEN: 'wrong' },
      { detached: true },
      async (pid) => {
        await until('START is spooled', async () => (await spooled()).length === 1, 30_000);
        process.kill(-pid, 'SIGKILL');
      },
    );
    const flushed = await outcomeOf(runledger('flush', '--all'), env);
    expect(flushed).to.include({ code: 0, stdout: `1 sent, 0 waiting, 0 refused in ${join(folder, 'spool')}\n` });
    expect(await runs()).to.deep.equal(['START']);
  });

  it('sends no event of another receiver, unless flush --all is asked to', async () => {
    await run('true', { RUNLEDGER_TOKEN: 'of-another-organization' });
    await run('true');
    expect(await runs()).to.deep.equal(['START END']);
    expect(await spooled()).to.have.lengthOf(2);
    expect(await outcomeOf(runledger('flush', '--all'), env)).to.include({ code: 0 });
    expect(await runs()).to.deep.equal(['START END', 'START END']);
  });

  it('keeps the bounds of the spool', async () => {
    await run('true', { RUNLEDGER_TOKEN: 'wrong', RUNLEDGER_SPOOL_MAX_EVENTS: '1', RUNLEDGER_TIMEOUT_MS: '500' });
    expect(await spooled()).to.have.lengthOf(1);
    await rm(join(folder, 'spool'), { recursive: true });
    await run('true', { RUNLEDGER_TOKEN: 'wrong', RUNLEDGER_SPOOL_MAX_BYTES: '100', RUNLEDGER_TIMEOUT_MS: '500' });
    expect(await spooled()).to.deep.equal([]);
  });

  it('runs the command, unchanged, while the disk of the spool is full, and reports it if it can', async function full() {
    const disk = await SmallDisk.mount(join(folder, 'disk'), undefined);
    if (disk === undefined) {
      console.log('      skipped: this process may not mount a file system');
      this.skip();
    }
    try {
      await mkdir(join(disk.folder, 'spool'));
      await writeFile(join(disk.folder, 'other'), 'something');
      await disk.fill();
      const settings = { RUNLEDGER_SPOOL: join(disk.folder, 'spool') };
      expect(await run('echo out', settings)).to.deep.equal({ code: 0, signal: null, stdout: 'out\n', stderr: '' });
      expect(await runs()).to.deep.equal(['START END']);
      const lost = await run('echo out', { ...settings, ...away, RUNLEDGER_TIMEOUT_MS: '500' });
      expect(lost).to.deep.equal({ code: 0, signal: null, stdout: 'out\n', stderr: '' });
      await disk.makeRoom();
      expect(await spooled(disk.folder)).to.deep.equal([]);
    } finally {
      await disk.unmount();
    }
  });

  it('records concurrent runs that share a spool once each', async () => {
    const many = Array.from({ length: 8 }, (_, index) => `run ${index}`);
    await Promise.all(many.map((name) => run('exit 1', { RUNLEDGER_TOKEN: 'wrong' }, ['--execution', name])));
    expect(await spooled()).to.have.lengthOf(24);
    const [spool = ''] = await readdir(join(folder, 'spool'));
    await Promise.all(many.map(() => run('true')));
    await outcomeOf(runledger('flush', '--all'), env);
    expect((await runs()).filter((kinds) => kinds === 'START ERROR END' || kinds === 'START END')).to.have.lengthOf(16);
    expect(await suite.stored()).to.have.lengthOf(24 + 16);
    expect(await spooled(join(folder, 'spool', spool))).to.deep.equal([]);
  });
});
