import { randomUUID } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { automation, outcomeOf, reported, runledger, type Outcome } from '../support/exec.ts';
import { token } from '../support/pipeline.ts';
import { suiteExec } from '../support/suite-exec.ts';

describe('runledger flush', () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;
  let earlier: string;

  const exec = suiteExec();
  const { suite } = exec;

  beforeEach(() => {
    ({ folder, env } = exec);
    earlier = join(folder, 'spool/earlier');
  });

  const flush = (...args: string[]): Promise<Outcome> => outcomeOf(runledger('flush', '--all', ...args), env);

  /** Leaves an event in the spool, as an earlier run would. */
  const spool = async (event: object, key: string = randomUUID(), to = earlier): Promise<void> => {
    const body = JSON.stringify({ automation_id: automation, execution_id: key, event: 'EVENT', ...event });
    const text = JSON.stringify({ key, body, at: Date.now() });
    await mkdir(to, { recursive: true, mode: 0o700 });
    await writeFile(join(to, `${String(Date.now()).padStart(15, '0')}-001-${key}-${text.length}.json`), text);
  };

  it('sends many in one request, each once, and keeps what is refused, and says why', async () => {
    const key = randomUUID();
    const recorded = { automation_id: automation, execution_id: key, event: 'EVENT' };
    const { status } = await suite.ingest.client.register(recorded, { 'idempotency-key': key });
    expect(status).to.equal(201);
    await spool({}, key);
    await spool({ event: 'BEGIN' });
    // The clock of this machine was wrong.
    await spool({ occurred_at: new Date(Date.now() + 3_600_000).toISOString() });
    for (let index = 0; index < 120; index += 1) await spool({});
    const flushed = await flush();
    const aside = join(earlier, 'refused');
    const [refused = ''] = await readdir(aside);
    expect(flushed.code).to.equal(1);
    expect(flushed.stderr)
      .to.include(`refused: /event must be`)
      .and.include(`kept in ${join(aside, refused)}\n`);
    expect(await flush(), 'once told').to.include({ code: 0, stderr: '' });
    expect(flushed.stdout).to.equal(`122 sent, 0 waiting, 1 refused in ${join(folder, 'spool')}\n`);
    const stored = await suite.stored();
    expect(new Set(stored.map(({ executionId }) => executionId))).to.have.property('size', 122);
    expect(stored).to.have.lengthOf(122);
    expect(await suite.redis.command('llen', '{runledger}:events:wait'), 'commits').to.be.below(6);
  });

  it('says once which events a run could not report for good, and which files are damaged', async () => {
    // The token file is missing at first: the receiver is the same when it is there.
    env = { ...env, RUNLEDGER_TOKEN: '', RUNLEDGER_TOKEN_FILE: join(folder, 'token') };
    const run = (): Promise<Outcome> => outcomeOf(reported(['true'], ['--execution', 'run 1']), env);
    expect(await run()).to.include({ code: 0 });
    const [receiver = ''] = await readdir(join(folder, 'spool'));
    const own = join(folder, 'spool', receiver);
    await writeFile(join(folder, 'token'), token);
    await spool({ event: 'BEGIN' }, randomUUID(), own);
    const damaged = `${'1'.padStart(15, '0')}-001-${randomUUID()}-9.json`;
    await writeFile(join(own, damaged), '{"key":"x');
    const long = ['x'.repeat(10_001), '--automation', automation, '--execution', 'run 1'];
    expect(await outcomeOf(runledger('event', 'event', ...long), env)).to.include({ code: 1 });
    expect(await run()).to.include({ code: 0, stderr: '' });

    const flushed = await flush();
    expect(flushed).to.include({ code: 1, stdout: `0 sent, 0 waiting, 3 refused in ${join(folder, 'spool')}\n` });
    const lines = flushed.stderr.trim().split('\n');
    expect(lines).to.have.lengthOf(3);
    expect(lines[0]).to.equal(`runledger: refused: the file is damaged, kept in ${join(own, 'refused', damaged)}`);
    expect(lines[1])
      .to.include('refused: /event must be')
      .and.include(`kept in ${join(own, 'refused')}`);
    expect(lines[2]).to.include('refused: /description must not be longer');
    expect(await flush(), 'once told').to.deep.equal({ ...flushed, code: 0, stderr: '' });
  });

  it('names the setting that is wrong', async () => {
    const wrong: [NodeJS.ProcessEnv, RegExp][] = [
      [{ RUNLEDGER_URL: '' }, /--url \(RUNLEDGER_URL\) is required/],
      [{ RUNLEDGER_URL: 'http://x' }, /RUNLEDGER_URL\) must be an https:\/\/ address/],
      [{ RUNLEDGER_TOKEN: '' }, /RUNLEDGER_TOKEN or .*RUNLEDGER_TOKEN_FILE\) is required/],
      [{ RUNLEDGER_TOKEN: 'a b' }, /RUNLEDGER_TOKEN must be visible/],
      [{ RUNLEDGER_TOKEN_FILE: '/none' }, /RUNLEDGER_TOKEN and RUNLEDGER_TOKEN_FILE are both set/],
      [{ RUNLEDGER_CA_FILE: '/none' }, /RUNLEDGER_CA_FILE\) names an unreadable file: \/none \(ENOENT\)/],
      [{ RUNLEDGER_SPOOL_MAX_EVENTS: 'many' }, /RUNLEDGER_SPOOL_MAX_EVENTS must be a whole number/],
    ];
    for (const [settings, message] of wrong) {
      const found = await outcomeOf(runledger('flush'), { ...env, ...settings });
      expect(found.stderr).to.match(message);
      expect(found.code).to.equal(1);
    }
  });
});
