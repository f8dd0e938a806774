import { expect } from 'chai';
import { createLogger } from '../../../internal/telemetry/logger.ts';
import { RefusalReporter, type RefusalEvent } from '../../../internal/tokens/refusal-reporter.ts';
import type { SecretRefusal } from '../../../internal/tokens/secret-refusal.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

const logger = createLogger('test', 'silent');
const { signal } = new AbortController();

function refusal(name: string, resourceVersion: string, more: Partial<SecretRefusal> = {}): SecretRefusal {
  const secret = { name, namespace: 'tokens', uid: `uid-${name}`, resourceVersion };
  return { secret, entry: 'token-1', reason: 'too-short', ...more };
}

/** An API server that keeps Events by name, as the real one does. */
class Events {
  readonly all: RefusalEvent[] = [];
  failing = false;
  readonly post = async (event: RefusalEvent): Promise<void> => {
    if (this.failing) throw new Error('forbidden');
    if (!this.all.some(({ metadata }) => metadata.name === event.metadata.name)) this.all.push(event);
  };
}

async function report(reporter: RefusalReporter, refusals: SecretRefusal[], events: Events): Promise<void> {
  reporter.report(refusals, events.post, signal);
  await reporter.idle();
}

describe('refusal reporter', () => {
  it('posts one Warning on a Secret, with every reason, and not again while nothing changes', async () => {
    const events = new Events();
    const reporter = new RefusalReporter(logger);
    const { secret } = refusal('one', '1');
    const refusals: SecretRefusal[] = [
      { secret, entry: 'token-1', reason: 'too-short' },
      { secret, entry: 'token-2', reason: 'empty' },
    ];
    await report(reporter, refusals, events);
    await report(reporter, refusals, events);
    expect(events.all).to.have.length(1);
    expect(events.all[0]).to.deep.include({ type: 'Warning', reason: 'TokenRefused' });
    expect(events.all[0]?.message).to.equal(
      'token-1: the token is shorter than 16 characters; token-2: the token is empty',
    );
    expect(events.all[0]?.involvedObject).to.deep.include({ kind: 'Secret', name: 'one', uid: 'uid-one' });
  });

  it('posts again when the Secret changed, or what is wrong with it', async () => {
    const events = new Events();
    const reporter = new RefusalReporter(logger);
    await report(reporter, [refusal('one', '1')], events);
    await report(reporter, [refusal('one', '2')], events);
    await report(reporter, [refusal('one', '2', { reason: 'shared', other: refusal('two', '1').secret })], events);
    await report(reporter, [refusal('one', '2', { reason: 'shared', other: refusal('three', '1').secret })], events);
    expect(events.all).to.have.length(4);
  });

  it('posts again what the API server has forgotten by now, and logs it once', async () => {
    const events = new Events();
    const { logger, records } = recordingLogger();
    let minutes = 0;
    const reporter = new RefusalReporter(logger, () => minutes * 60_000);
    await report(reporter, [refusal('one', '1')], events);
    events.all.length = 0;
    minutes = 5;
    await report(reporter, [refusal('one', '1')], events);
    expect(events.all).to.have.length(0);
    minutes = 10;
    await report(reporter, [refusal('one', '1')], events);
    expect(events.all).to.have.length(1);
    expect(records).to.have.length(1);
  });

  it('is heard once from any number of pods', async () => {
    const events = new Events();
    await Promise.all(
      Array.from({ length: 5 }, () => report(new RefusalReporter(logger), [refusal('one', '1')], events)),
    );
    expect(events.all).to.have.length(1);
  });

  it('tries again what could not be posted', async () => {
    const events = new Events();
    const reporter = new RefusalReporter(logger);
    events.failing = true;
    await report(reporter, [refusal('one', '1'), refusal('two', '1')], events);
    events.failing = false;
    await report(reporter, [refusal('one', '1'), refusal('two', '1')], events);
    expect(events.all.map(({ involvedObject }) => involvedObject.name)).to.deep.equal(['one', 'two']);
  });

  it('carries out only the last of the reports that wait', async () => {
    const posted: string[] = [];
    const first = Promise.withResolvers<void>();
    const reporter = new RefusalReporter(logger);
    const post = async (event: RefusalEvent): Promise<void> => {
      posted.push(event.involvedObject.name);
      await first.promise;
    };
    for (const name of ['one', 'two', 'three']) reporter.report([refusal(name, '1')], post, signal);
    first.resolve();
    await reporter.idle();
    expect(posted).to.deep.equal(['one', 'three']);
  });

  it('makes names that Kubernetes takes of the longest names of Secrets', async () => {
    const events = new Events();
    await report(new RefusalReporter(logger), [refusal(`${'a'.repeat(198)}.${'b'.repeat(54)}`, '1')], events);
    expect(events.all[0]?.metadata.name)
      .to.match(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
      .and.have.length.below(254);
  });
});
