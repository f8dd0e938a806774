import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { replaceFile } from '../../support/replace-file.ts';
import { until } from '../../support/until.ts';
import { refuse, silence } from '../../support/cluster/scripted-api.ts';
import { acme, eachWithScriptedSource, globex, idleMs, revoked } from '../../support/cluster/scripted-source.ts';

describe('secret token source, while its API server or account fails', () => {
  const suite = eachWithScriptedSource();

  it('waits out 403 and 500, and says why it is not ready', async () => {
    suite().api.script('list', refuse(403, 'secrets is forbidden: User "ingest" cannot list'), Infinity);
    suite().create();
    expect(suite().source.unready()).to.equal('the first list of Secrets is not complete');
    await suite().source.start();
    await until('the reason', () => suite().source.unready()?.includes('403') === true);
    expect(suite().source.unready()).to.contain('User "ingest" cannot list');
    expect(suite().source.authenticate(acme).status).to.equal('not-loaded');
    suite().api.behave();
    suite().api.script('list', refuse(500, 'etcd leader changed'));
    await suite().learned(acme);
    expect(suite().source.unready()).to.equal(undefined);
  });

  it('serves the last tokens while everything fails, and catches up afterwards', async () => {
    await suite().follow();
    suite().api.script('list', refuse(403, 'forbidden for a while'), Infinity);
    suite().api.script('watch', refuse(403, 'forbidden for a while'), Infinity);
    suite().api.endWatches('reset');
    await until('several attempts', async () => (await suite().restarts()) >= 4);
    expect(suite().known(acme)).to.equal(true);
    expect(suite().source.unready()).to.equal(undefined);
    suite().api.delete('acme');
    suite().api.put('globex', 'globex', globex);
    suite().api.behave();
    await suite().learned(globex);
    expect(suite().known(acme)).to.equal(false);
    await suite().watching();
    await sleep(200);
    expect(suite().api.watches).to.equal(1);
  });

  it('never shows half a list', async () => {
    suite().api.put('globex', 'globex', globex);
    await suite().follow({ relistMs: 200, overlapMs: 100, listTimeoutMs: 300 });
    suite().api.script('list', (_request, response) => {
      response.writeHead(200).end('{"metadata":{"resourceVersion":"3","continue":"1"},"items":[]}');
    });
    suite().api.script('list', silence, Infinity);
    await until('the second page asked for', () => suite().api.count('list') >= 3);
    expect(suite().known(acme) && suite().known(globex)).to.equal(true);
    await until('the list given up', async () => (await suite().restarts()) >= 1);
    expect(suite().known(acme) && suite().known(globex)).to.equal(true);
  });

  it('does not quote a list that it cannot read', async () => {
    suite().api.script('list', (_request, response) => response.end(`{"items":[{"stringData":{"token":"${revoked}`));
    await suite().follow();
    expect(suite().logs.lines.join('')).to.contain("list Secrets: the API server's answer is not JSON");
  });

  it('does not spin when the server closes every watch at once', async () => {
    suite().api.script('watch', (_request, response) => response.writeHead(200).end(), Infinity);
    suite().create();
    await suite().source.start();
    const began = performance.now();
    await until('six watches', () => suite().api.count('watch') >= 6);
    expect(performance.now() - began, 'ms for six watches').to.be.above(100);
    expect(suite().known(acme)).to.equal(true);
  });

  it('uses the account token that is in the file now', async () => {
    await suite().follow({ idleMs });
    await replaceFile(join(suite().account, 'token'), 'account-2');
    await until('a watch with the new account token', () =>
      suite().api.requests.some(({ kind, authorization }) => kind === 'watch' && authorization === 'Bearer account-2'),
    );
    expect(suite().api.requests[0]?.authorization).to.equal('Bearer account-1');
  });

  it('waits for an account that is not mounted yet', async () => {
    await rm(join(suite().account, 'token'));
    suite().create();
    await suite().source.start();
    await until('the reason', () => suite().source.unready()?.includes('ENOENT') === true);
    await replaceFile(join(suite().account, 'token'), 'account-1');
    await suite().learned(acme);
  });
});
