import { expect } from 'chai';
import { eventually } from '../../support/cluster/eventually.ts';
import { refuse } from '../../support/cluster/scripted-api.ts';
import { eachWithScriptedSource } from '../../support/cluster/scripted-source.ts';

describe('Warnings of the secret token source', () => {
  const suite = eachWithScriptedSource();

  it('posts a Warning on a refused Secret, and takes one that is there already for its own', async () => {
    suite().api.script('event', refuse(409, 'already exists'));
    suite().api.put('tiny', 'tiny', 'tiny-secret');
    await suite().follow({ relistMs: 100 });
    await eventually(() => suite().api.count('list') >= 3, 'more lists');
    expect(suite().api.count('event')).to.equal(1);
    const event = JSON.parse(suite().api.requests.find(({ kind }) => kind === 'event')?.body ?? '');
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
    suite().api.script('event', refuse(403, 'events is forbidden'));
    suite().api.put('tiny', 'tiny', 'tiny-secret');
    await suite().follow({ relistMs: 200 });
    await eventually(() => suite().api.count('event') === 2, 'a second try');
    expect(suite().logs.lines.join('')).to.contain('events is forbidden');
  });
});
