import { expect } from 'chai';
import { createLogger } from '../../../internal/kit/telemetry/logger.ts';
import { EventReporter } from '../../../internal/cluster/event-reporter.ts';
import type { WarningEvent } from '../../../internal/cluster/events.ts';
import { refusalEvents } from '../../../internal/cluster/tokens/refusal-events.ts';
import type { SecretRefusal } from '../../../internal/cluster/tokens/secret-refusal.ts';

const logger = createLogger('test', 'silent');
const { signal } = new AbortController();

function refusal(name: string, resourceVersion: string, more: Partial<SecretRefusal> = {}): SecretRefusal {
  const secret = { name, namespace: 'tokens', uid: `uid-${name}`, resourceVersion };
  return { secret, entry: 'token-1', reason: 'too-short', ...more };
}

/** A reporter, and an API server that keeps Events by name, as the real one does. */
function reporting(now?: () => number) {
  const news: WarningEvent[] = [];
  const events: WarningEvent[] = [];
  const api = { failing: false };
  const post = async (event: WarningEvent): Promise<void> => {
    if (api.failing) throw new Error('forbidden');
    if (!events.some(({ metadata }) => metadata.name === event.metadata.name)) events.push(event);
  };
  const reporter = new EventReporter({ logger, onNew: (event) => news.push(event), ...(now && { now }) });
  const report = async (...refusals: SecretRefusal[]): Promise<void> => {
    reporter.report(refusalEvents(refusals), post, signal);
    await reporter.idle();
  };
  return { report, reporter, events, news, api, post };
}

describe('event reporter', () => {
  it('posts one Warning on a Secret, with every reason, and not again while nothing changes', async () => {
    const { report, events } = reporting();
    const first = refusal('one', '1');
    const refusals = [first, { ...first, entry: 'token-2', reason: 'empty' as const }];
    await report(...refusals);
    await report(...refusals);
    expect(events).to.have.length(1);
    expect(events[0]).to.containSubset({
      type: 'Warning',
      reason: 'TokenRefused',
      message: 'token-1: the token is shorter than 16 characters; token-2: the token is empty',
      involvedObject: { kind: 'Secret', name: 'one', uid: 'uid-one' },
    });
  });

  it('posts again when the Secret changed, or what is wrong with it', async () => {
    const { report, events } = reporting();
    const sharedWith = (name: string) => refusal('one', '2', { reason: 'shared', other: refusal(name, '1').secret });
    await report(refusal('one', '1'));
    await report(refusal('one', '2'));
    await report(sharedWith('two'));
    await report(sharedWith('three'));
    expect(events).to.have.length(4);
  });

  it('posts again what the API server has forgotten by now, and tells it once', async () => {
    let minutes = 0;
    const { report, events, news } = reporting(() => minutes * 60_000);
    await report(refusal('one', '1'));
    events.length = 0;
    for (const [after, posted] of [
      [5, 0],
      [10, 1],
    ] as const) {
      minutes = after;
      await report(refusal('one', '1'));
      expect(events, `after ${after} minutes`).to.have.length(posted);
    }
    expect(news).to.have.length(1);
  });

  it('is heard once from any number of pods', async () => {
    const { post, events } = reporting();
    for (let pod = 0; pod < 5; pod += 1) {
      const reporter = new EventReporter({ logger, onNew: () => undefined });
      reporter.report(refusalEvents([refusal('one', '1')]), post, signal);
      await reporter.idle();
    }
    expect(events).to.have.length(1);
  });

  it('tries again what could not be posted', async () => {
    const { report, events, api } = reporting();
    api.failing = true;
    await report(refusal('one', '1'), refusal('two', '1'));
    api.failing = false;
    await report(refusal('one', '1'), refusal('two', '1'));
    expect(events.map(({ involvedObject }) => involvedObject.name)).to.deep.equal(['one', 'two']);
  });

  it('carries out only the last of the reports that wait', async () => {
    const posted: string[] = [];
    const first = Promise.withResolvers<void>();
    const reporter = new EventReporter({ logger, onNew: () => undefined });
    const post = async (event: WarningEvent): Promise<void> => {
      posted.push(event.involvedObject.name);
      await first.promise;
    };
    for (const name of ['one', 'two', 'three']) reporter.report(refusalEvents([refusal(name, '1')]), post, signal);
    first.resolve();
    await reporter.idle();
    expect(posted).to.deep.equal(['one', 'three']);
  });

  it('makes names that Kubernetes takes of the longest names of Secrets', async () => {
    const { report, events } = reporting();
    await report(refusal(`${'a'.repeat(198)}.${'b'.repeat(54)}`, '1'));
    expect(events[0]?.metadata.name)
      .to.match(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
      .and.have.length.below(254);
  });
});
