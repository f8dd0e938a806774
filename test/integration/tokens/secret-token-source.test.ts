import { expect } from 'chai';
import { until } from '../../support/until.ts';
import { refuse, silence } from '../../support/cluster/scripted-api.ts';
import { acme, eachWithScriptedSource, globex, idleMs } from '../../support/cluster/scripted-source.ts';

describe('secret token source, against a scripted API server', () => {
  const suite = eachWithScriptedSource();

  it('knows no answer until the first list is complete, then follows changes', async () => {
    suite().create();
    expect(suite().source.authenticate(acme)).to.deep.equal({ status: 'not-loaded' });
    await suite().source.start();
    await suite().learned(acme);
    suite().api.put('globex', 'globex', globex);
    await suite().learned(globex);
    suite().api.delete('acme');
    await until('the deleted Secret forgotten', () => !suite().known(acme));
    expect(await suite().metrics.value('runledger_tokens{')).to.equal(1);
    expect(
      Date.now() / 1000 - (await suite().metrics.value('runledger_token_last_list_timestamp_seconds')),
    ).to.be.below(60);
    expect(await suite().restarts()).to.equal(0);
  });

  it('asks for the namespace, the label and the bookmarks it was told to', async () => {
    await suite().follow();
    for (const { kind, query } of suite().api.requests) {
      expect(query.get('labelSelector'), kind).to.equal('runledger.dev/organization');
    }
    expect(suite().api.requests.at(-1)?.query.get('allowWatchBookmarks')).to.equal('true');
  });

  it('reads a long list page by page', async () => {
    for (let index = 0; index < 1200; index += 1)
      suite().api.put(`s-${index}`, `org-${index}`, `token-of-${index}-----------`);
    await suite().follow();
    expect(suite().api.count('list')).to.equal(3);
    expect(await suite().metrics.value('runledger_token_organizations{')).to.equal(1201);
  });

  it('reads smaller pages when objects are so large that a page would fill the memory', async () => {
    for (let index = 0; index < 20; index += 1) suite().api.put(`s-${index}`, `org-${index}`, 'x'.repeat(300_000));
    await suite().follow();
    const lists = suite().api.requests.filter(({ kind }) => kind === 'list');
    expect(lists.map(({ query }) => query.get('limit'))).to.deep.equal(['500', '63', '8', '8', '8']);
    expect(suite().known(acme)).to.equal(true);
    expect(await suite().restarts()).to.equal(0);
  });

  it('begins again with a list when the watch is told 410', async () => {
    await suite().follow();
    suite().api.put('globex', 'globex', globex, false);
    suite().api.send('{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}}\n');
    await suite().learned(globex);
    await suite().watching();
    expect(suite().api.count('list')).to.equal(2);
    expect(await suite().restarts()).to.equal(1);
    expect(suite().logs.lines.join('')).to.contain('410 (too old resource version)');
  });

  it('begins again when a page of the list has expired', async () => {
    for (let index = 0; index < 600; index += 1)
      suite().api.put(`s-${index}`, `org-${index}`, `token-of-${index}-----------`);
    suite().api.script('list', (_request, response) => {
      response.writeHead(200).end('{"metadata":{"resourceVersion":"5","continue":"500"},"items":[]}');
    });
    suite().api.script('list', refuse(410, 'The provided continue parameter is too old'));
    await suite().follow();
    expect(await suite().metrics.value('runledger_token_organizations{')).to.equal(601);
  });

  it('gets a change again after its frame was cut off', async () => {
    await suite().follow({ shortestWatchMs: 0 });
    suite().api.put('globex', 'globex', globex, false);
    suite().api.send('{"type":"ADDED","object":{"metadata":{"name":"globex","resourceV');
    suite().api.endWatches('end');
    await suite().learned(globex);
    expect(suite().api.count('list')).to.equal(1);
    expect(await suite().restarts()).to.equal(0);
  });

  it('recovers from a garbled frame at the next list', async () => {
    await suite().follow({ relistMs: 300, overlapMs: 100 });
    suite().api.put('globex', 'globex', globex, false);
    suite().api.send('{"type":"ADD\u0000\n');
    await suite().learned(globex);
    expect(await suite().restarts()).to.equal(0);
  });

  it('begins again after a reset', async () => {
    await suite().follow();
    suite().api.endWatches('reset');
    await until('a second list', () => suite().api.count('list') === 2);
    await suite().watching();
    expect(suite().known(acme)).to.equal(true);
  });

  it('reopens a silent watch where it left off, since its connection may be dead', async () => {
    await suite().follow({ idleMs });
    suite().api.put('globex', 'globex', globex, false);
    await suite().learned(globex);
    await suite().watching();
    const [first, second] = suite().api.requests.filter(({ kind }) => kind === 'watch');
    expect(second?.query.get('resourceVersion')).to.equal(first?.query.get('resourceVersion'));
    // On a busy machine a later watch may be answered too late: a failure, and another list.
    const failures = suite().api.count('list') - 1;
    expect(await suite().restarts()).to.equal(failures);
    expect(suite().logs.lines.filter((line) => line.includes('token watch failed'))).to.have.length(failures);
  });

  it('gives up a watch or a list that gets no answer', async () => {
    suite().api.script('list', silence);
    suite().api.script('watch', silence);
    await suite().follow({ listTimeoutMs: 300, idleMs: 200 });
    expect(await suite().restarts()).to.be.at.least(2);
    expect(suite().known(acme)).to.equal(true);
  });

  it('loses nothing of a burst of changes', async () => {
    await suite().follow({ settleMs: 50 });
    for (let index = 0; index < 500; index += 1)
      suite().api.put(`s-${index}`, `org-${index}`, `token-of-${index}-----------`);
    await until('all tokens', async () => (await suite().metrics.value('runledger_tokens{')) === 501);
  });
});
