import { expect } from 'chai';
import type { Component } from '../../../internal/kit/lifecycle/component.ts';
import { component, ComponentGroup } from '../../../internal/kit/lifecycle/group.ts';
import { createLogger } from '../../../internal/kit/telemetry/logger.ts';
import { failureOf } from '../../support/failure.ts';

const logger = createLogger('test', 'silent');

/** Components that write down what happens to them. */
function recorded(...names: string[]): { log: string[]; parts: Component[] } {
  const log: string[] = [];
  const record = async (what: string): Promise<void> => {
    await Promise.resolve();
    log.push(what);
  };
  const parts = names.map((name) =>
    component(name, { start: () => record(`start ${name}`), stop: () => record(`stop ${name}`) }),
  );
  return { log, parts };
}

const failed = (work: Promise<unknown>): Promise<string> =>
  failureOf(work).then((error) => (error instanceof Error ? error.message : String(error)));

describe('component group', () => {
  it('starts in order and stops in the opposite one, once', async () => {
    const { log, parts } = recorded('a', 'b', 'c');
    const group = new ComponentGroup('group', parts, logger);
    await group.start();
    await Promise.all([group.stop(), group.stop()]);
    await group.stop();
    expect(log).to.deep.equal(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a']);
  });

  it('may be stopped before a start, and does not start then', async () => {
    const { log, parts } = recorded('a');
    const group = new ComponentGroup('group', parts, logger);
    await group.stop();
    expect(await failed(group.start())).to.equal('group was stopped before it had started');
    expect(log).to.not.include('start a');
  });

  it('stops what has started when a start fails, and says why', async () => {
    const { log, parts } = recorded('a');
    const broken = component('broken', { start: () => Promise.reject(new Error('port taken')) });
    const group = new ComponentGroup('group', [...parts, broken, ...recorded('never').parts], logger);
    expect(await failed(group.start())).to.equal('port taken');
    expect(log).to.deep.equal(['start a', 'stop a']);
  });

  it('stops what was begun in it, the last one first', async () => {
    const { log, parts } = recorded('a', 'b', 'c');
    const group = new ComponentGroup('group', parts.slice(0, 1), logger);
    await group.start();
    for (const part of parts.slice(1)) await group.begin(part);
    await group.stop();
    expect(log).to.deep.equal(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a']);
  });

  it('begins nothing more once it is stopped', async () => {
    const { log, parts } = recorded('a');
    const group = new ComponentGroup('group', [], logger);
    await group.stop();
    expect(await failed(Promise.all(parts.map((part) => group.begin(part))))).to.equal(
      'group was stopped before it had started',
    );
    expect(log).to.not.include('start a');
  });

  it('stops the others when one cannot be stopped', async () => {
    const { log, parts } = recorded('a');
    const stuck = component('stuck', { stop: () => Promise.reject(new Error('stuck')) });
    const group = new ComponentGroup('group', [...parts, stuck], logger);
    await group.start();
    await group.stop();
    expect(log).to.deep.equal(['start a', 'stop a']);
  });

  it('leaves nothing running when it is stopped while a component starts', async () => {
    const { log, parts } = recorded('a', 'late');
    const { promise: slow, resolve: goOn } = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let running = false;
    const starting = component('starting', {
      start: () => {
        begun.resolve();
        return slow.then(() => void (running = true));
      },
      stop: () => Promise.resolve().then(() => void (running = false)),
    });
    const inner = new ComponentGroup('inner', [starting, ...parts.slice(1)], logger);
    const group = new ComponentGroup('outer', [...parts.slice(0, 1), inner], logger);
    const start = failed(group.start());
    await begun.promise;
    await group.stop();
    goOn();
    expect(await start).to.equal('inner was stopped before it had started');
    expect(running).to.equal(false);
    expect(log).to.not.include('start late');
  });
});
