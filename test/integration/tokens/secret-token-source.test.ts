import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { podAccount } from '../../../internal/tokens/pod-account.ts';
import { SecretTokenSource, type SecretTokenSourceTimes } from '../../../internal/tokens/secret-token-source.ts';
import { eventually } from '../../support/cluster/eventually.ts';
import { refuse, ScriptedApi, silence } from '../../support/cluster/scripted-api.ts';
import { capturedLogger, capturedMetrics } from '../../support/cluster/token-fixtures.ts';

const quick = { settleMs: 5, listTimeoutMs: 300, shortestWatchMs: 50, backoff: { firstMs: 20, longestMs: 100 } };
const [acme, globex, revoked] = ['acme-token-aaaaaaaaaa', 'globex-token-bbbbbbbbbb', 'revoked-token-cccccccc'];

describe('secret token source, against a scripted API server', () => {
  let api: ScriptedApi;
  let account: string;
  let source: SecretTokenSource;
  let logs: ReturnType<typeof capturedLogger>;
  let metrics: ReturnType<typeof capturedMetrics>;

  const known = (token: string): boolean => source.authenticate(token).status === 'known';
  const restarts = (): Promise<number> => metrics.value('runledger_token_watch_restarts_total');
  const watching = (): Promise<number> => eventually(() => api.watches === 1, 'one watch open');
  const learned = (token: string): Promise<number> => eventually(() => known(token), 'the token known');

  function create(times: Partial<SecretTokenSourceTimes> = {}): void {
    const connect = podAccount(api.url, account);
    source = new SecretTokenSource({ connect, ...logs, metrics: metrics.metrics, times: { ...quick, ...times } });
  }

  async function follow(times: Partial<SecretTokenSourceTimes> = {}): Promise<void> {
    create(times);
    await source.start();
    await eventually(() => source.unready() === undefined, 'the first list');
    await watching();
  }

  beforeEach(async () => {
    api = await ScriptedApi.start();
    api.put('acme', 'acme', acme);
    account = await mkdtemp(join(tmpdir(), 'runledger-account-'));
    await writeFile(join(account, 'ca.crt'), '');
    await writeFile(join(account, 'namespace'), 'tokens\n');
    await writeFile(join(account, 'token'), 'account-1\n');
    logs = capturedLogger();
    metrics = capturedMetrics();
  });

  afterEach(async () => {
    await source.stop();
    await source.stop();
    await eventually(() => api.sockets.size === 0, 'every connection closed');
    await api.stop();
    await rm(account, { recursive: true });
    const written = `${logs.lines.join('')}${await metrics.text()}`;
    for (const token of [acme, globex, revoked]) expect(written).not.to.contain(token);
  });

  it('cannot tell until the first list is complete, then follows changes', async () => {
    create();
    expect(source.authenticate(acme)).to.deep.equal({ status: 'not-loaded' });
    await source.start();
    await learned(acme);
    api.put('globex', 'globex', globex);
    await learned(globex);
    api.delete('acme');
    await eventually(() => !known(acme), 'the deleted Secret forgotten');
    expect(await metrics.value('runledger_tokens{')).to.equal(1);
    expect(Date.now() / 1000 - (await metrics.value('runledger_token_last_list_timestamp_seconds'))).to.be.below(10);
    expect(await restarts()).to.equal(0);
  });

  it('asks for the namespace, the label and the bookmarks it was told to', async () => {
    await follow();
    for (const { kind, query } of api.requests) {
      expect(query.get('labelSelector'), kind).to.equal('runledger.dev/organization');
    }
    expect(api.requests.at(-1)?.query.get('allowWatchBookmarks')).to.equal('true');
  });

  it('reads a long list page by page', async () => {
    for (let index = 0; index < 1200; index += 1) api.put(`s-${index}`, `org-${index}`, `token-of-${index}-----------`);
    await follow();
    expect(api.count('list')).to.equal(3);
    expect(await metrics.value('runledger_token_organizations{')).to.equal(1201);
  });

  it('begins again with a list when the watch is told 410', async () => {
    await follow();
    api.put('globex', 'globex', globex, false);
    api.send('{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}}\n');
    await learned(globex);
    await watching();
    expect(api.count('list')).to.equal(2);
    expect(await restarts()).to.equal(1);
    expect(logs.lines.join('')).to.contain('410 (too old resource version)');
  });

  it('begins again when a page of the list has expired', async () => {
    for (let index = 0; index < 600; index += 1) api.put(`s-${index}`, `org-${index}`, `token-of-${index}-----------`);
    api.script('list', (_request, response) => {
      response.writeHead(200).end('{"metadata":{"resourceVersion":"5","continue":"500"},"items":[]}');
    });
    api.script('list', refuse(410, 'The provided continue parameter is too old'));
    await follow();
    expect(await metrics.value('runledger_token_organizations{')).to.equal(601);
  });

  it('gets the change again whose frame was cut off', async () => {
    await follow();
    api.put('globex', 'globex', globex, false);
    api.send('{"type":"ADDED","object":{"metadata":{"name":"globex","resourceV');
    await sleep(quick.shortestWatchMs);
    api.endWatches('end');
    await learned(globex);
    expect(api.count('list')).to.equal(1);
    expect(await restarts()).to.equal(0);
  });

  it('makes up at the next list for a frame that was garbled', async () => {
    await follow({ relistMs: 300 });
    api.put('globex', 'globex', globex, false);
    api.send('{"type":"ADD\u0000\n');
    await learned(globex);
    expect(await restarts()).to.equal(0);
  });

  it('begins again after a reset', async () => {
    await follow();
    api.endWatches('reset');
    await eventually(() => api.count('list') === 2, 'a second list');
    await watching();
    expect(known(acme)).to.equal(true);
  });

  it('opens a silent watch again where it left off, for its connection may be dead', async () => {
    await follow({ idleMs: 200 });
    api.put('globex', 'globex', globex, false);
    await learned(globex);
    await watching();
    expect(api.count('list')).to.equal(1);
    expect(await restarts()).to.equal(0);
    expect(logs.lines.filter((line) => line.includes('anew'))).to.deep.equal([]);
  });

  it('gives up a watch that is not answered, and a list', async () => {
    api.script('list', silence);
    api.script('watch', silence);
    await follow({ idleMs: 200 });
    expect(await restarts()).to.equal(2);
    expect(known(acme)).to.equal(true);
  });

  it('waits out 403 and 500, and says why it is not ready', async () => {
    api.script('list', refuse(403, 'secrets is forbidden: User "ingest" cannot list'), Infinity);
    create();
    expect(source.unready()).to.equal('the first list of Secrets is not complete');
    await source.start();
    await eventually(() => source.unready()?.includes('403') === true, 'the reason');
    expect(source.unready()).to.contain('User "ingest" cannot list');
    expect(source.authenticate(acme).status).to.equal('not-loaded');
    api.behave();
    api.script('list', refuse(500, 'etcd leader changed'));
    await learned(acme);
    expect(source.unready()).to.equal(undefined);
  });

  it('goes on serving the last tokens while everything fails, and catches up afterwards', async () => {
    await follow();
    api.script('list', refuse(403, 'forbidden for a while'), Infinity);
    api.script('watch', refuse(403, 'forbidden for a while'), Infinity);
    api.endWatches('reset');
    await eventually(async () => (await restarts()) >= 4, 'several attempts');
    expect(known(acme)).to.equal(true);
    expect(source.unready()).to.equal(undefined);
    api.delete('acme');
    api.put('globex', 'globex', globex);
    api.behave();
    await learned(globex);
    expect(known(acme)).to.equal(false);
    await watching();
    await sleep(200);
    expect(api.watches).to.equal(1);
  });

  it('never shows half a list', async () => {
    api.put('globex', 'globex', globex);
    await follow({ relistMs: 200 });
    api.script('list', (_request, response) => {
      response.writeHead(200).end('{"metadata":{"resourceVersion":"3","continue":"1"},"items":[]}');
    });
    api.script('list', silence, Infinity);
    await eventually(() => api.count('list') >= 3, 'the second page asked for');
    expect(known(acme) && known(globex)).to.equal(true);
    await eventually(async () => (await restarts()) >= 1, 'the list given up');
    expect(known(acme) && known(globex)).to.equal(true);
  });

  it('does not quote a list that it cannot read', async () => {
    api.script('list', (_request, response) => response.end(`{"items":[{"stringData":{"token":"${revoked}`));
    await follow();
    expect(logs.lines.join('')).to.contain("list Secrets: the API server's answer is not JSON");
  });

  it('does not spin when the server closes every watch at once', async () => {
    api.script('watch', (_request, response) => response.writeHead(200).end(), Infinity);
    create();
    await source.start();
    await sleep(500);
    expect(api.count('watch')).to.be.within(2, 20);
    expect(known(acme)).to.equal(true);
  });

  it('uses the account token that is in the file now', async () => {
    await follow({ idleMs: 100 });
    await writeFile(join(account, 'token'), 'account-2');
    await eventually(() => api.requests.at(-1)?.authorization === 'Bearer account-2', 'the new account token');
    expect(api.requests[0]?.authorization).to.equal('Bearer account-1');
    expect(api.count('list')).to.equal(1);
  });

  it('waits for an account that is not mounted yet', async () => {
    await rm(join(account, 'token'));
    create();
    await source.start();
    await eventually(() => source.unready()?.includes('ENOENT') === true, 'the reason');
    await writeFile(join(account, 'token'), 'account-1');
    await learned(acme);
  });

  it('posts a Warning on a refused Secret, and takes one that is there already for its own', async () => {
    api.script('event', refuse(409, 'already exists'));
    api.put('tiny', 'tiny', 'tiny-secret');
    await follow({ relistMs: 100 });
    await eventually(() => api.count('list') >= 3, 'more lists');
    expect(api.count('event')).to.equal(1);
    const event = JSON.parse(api.requests.find(({ kind }) => kind === 'event')?.body ?? '');
    expect(event).to.deep.include({ type: 'Warning', message: 'token: the token is shorter than 16 characters' });
    expect(event.involvedObject).to.deep.include({
      kind: 'Secret',
      name: 'tiny',
      namespace: 'tokens',
      uid: 'uid-tiny',
    });
    expect(JSON.stringify(event)).not.to.contain('tiny-secret');
  });

  it('posts the Warning later when it may not now', async () => {
    api.script('event', refuse(403, 'events is forbidden'));
    api.put('tiny', 'tiny', 'tiny-secret');
    await follow({ relistMs: 200 });
    await eventually(() => api.count('event') === 2, 'a second try');
    expect(logs.lines.join('')).to.contain('events is forbidden');
  });

  it('loses nothing of a burst of changes', async () => {
    await follow({ settleMs: 50 });
    for (let index = 0; index < 500; index += 1) api.put(`s-${index}`, `org-${index}`, `token-of-${index}-----------`);
    await eventually(async () => (await metrics.value('runledger_tokens{')) === 501, 'all tokens');
  });

  describe('stops at once', () => {
    const stopped = async (): Promise<void> => {
      const began = performance.now();
      await source.stop();
      expect(performance.now() - began).to.be.below(500);
    };

    it('before it started', async () => {
      create();
      await stopped();
    });

    for (const kind of ['list', 'watch', 'event'] as const) {
      it(`while it waits for the answer to a ${kind}`, async () => {
        api.script(kind, silence);
        api.put('tiny', 'tiny', 'tiny-secret');
        create({ listTimeoutMs: 30_000 });
        await source.start();
        await eventually(() => api.count(kind) === 1, kind);
        await stopped();
        expect(logs.lines.filter((line) => line.includes('anew') || line.includes('trying again'))).to.deep.equal([]);
      });
    }

    it('while it watches', async () => {
      await follow();
      await stopped();
    });

    it('while it pauses after a failure', async () => {
      api.script('list', refuse(500, 'no'), Infinity);
      create({ backoff: { firstMs: 60_000, longestMs: 60_000 } });
      await source.start();
      await eventually(async () => (await restarts()) === 1, 'a failure');
      await stopped();
    });
  });
});
