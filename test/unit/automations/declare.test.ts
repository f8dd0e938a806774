import { expect } from 'chai';
import { declare, type Manifests } from '../../../internal/controller/declarations/declare.ts';
import { bytesOf } from '../../../internal/controller/declarations/declared-limits.ts';
import { readAutomation } from '../../../internal/expectation/read-automation.ts';
import type { ResourceManifest } from '../../../internal/controller/declarations/manifest.ts';

const automationId = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';
const organizations = new Map([
  ['acme-one', 'acme'],
  ['acme-two', 'acme'],
  ['globex', 'globex'],
]);

/** A resource; `age` is the second of its creation. */
function resource(namespace: string, name: string, spec: object, age = 0): ResourceManifest {
  const creationTimestamp = `2026-01-01T00:00:${String(age).padStart(2, '0')}Z`;
  return { metadata: { namespace, name, uid: `${namespace}-${name}`, generation: 1, creationTimestamp }, spec };
}

/** What `declare` says: the declarations, and the reason and the sentence for each resource. */
function declared(given: Partial<Manifests> & { resources?: ResourceManifest[] }) {
  const { resources = [], ...manifests } = given;
  const { declarations, acceptances } = declare({
    automations: resources.map((manifest) => {
      const read = readAutomation(manifest.spec);
      return { manifest, read, bytes: bytesOf(read) };
    }),
    channels: [],
    organizations,
    keysOf: () => ({ keys: ['whsec_a'] }),
    ...manifests,
  });
  const said = acceptances.map(({ manifest, accepted, reason, message }) => {
    const { namespace, name } = manifest.metadata ?? {};
    return [`${namespace}/${name}`, accepted, reason, message] as const;
  });
  return { ...declarations, said };
}

describe('declarations', () => {
  it('get the organization from the label of the namespace only', () => {
    const spec = { automationId };
    const { automations, said } = declared({
      resources: [resource('acme-one', 'a', spec), resource('globex', 'a', spec), resource('other', 'a', spec)],
    });
    expect(automations.map(({ organization, namespace }) => [organization, namespace])).to.deep.equal([
      ['acme', 'acme-one'],
      ['globex', 'globex'],
    ]);
    expect(said).to.deep.equal([
      ['acme-one/a', true, 'Accepted', 'declared for organization acme'],
      ['globex/a', true, 'Accepted', 'declared for organization globex'],
      [
        'other/a',
        false,
        'NoOrganization',
        'namespace other has no label runledger.dev/organization, which names the organization',
      ],
    ]);
  });

  it('of the same automation count once: the oldest, whatever the letters of its id', () => {
    const { automations, said } = declared({
      resources: [
        resource('acme-one', 'younger', { automationId }, 2),
        resource('acme-two', 'older', { automationId: automationId.toUpperCase() }, 1),
        resource('globex', 'of-another', { automationId }, 0),
      ],
    });
    expect(automations.map(({ name }) => name)).to.deep.equal(['older', 'of-another']);
    expect(automations.map(({ note }) => note)).to.deep.equal([
      'acme-one/younger declares this automationId too, and is refused.',
      undefined,
    ]);
    expect(said[0]).to.deep.equal([
      'acme-one/younger',
      false,
      'DuplicateAutomation',
      'acme-two/older declared this automationId of the organization before',
    ]);
  });

  it('leave an automation to a younger resource if the older one is invalid', () => {
    const { automations } = declared({
      resources: [
        resource('acme-one', 'older', { automationId, expect: { schedule: 'at noon' } }, 1),
        resource('acme-two', 'younger', { automationId }, 2),
      ],
    });
    expect(automations.map(({ name }) => name)).to.deep.equal(['younger']);
  });

  for (const [expectation, reason] of [
    [{ schedule: '61 * * * *' }, 'InvalidSchedule'],
    [{ schedule: '0 2 * * *', timeZone: 'Europe/Atlantis' }, 'InvalidSchedule'],
    [{ every: '400d' }, 'InvalidSpec'],
    [{ schedule: 'at noon', maxDuration: '1w' }, 'InvalidSpec'],
  ] as const) {
    it(`are refused as ${reason} with ${JSON.stringify(expectation)}`, () => {
      const { automations, said } = declared({
        resources: [resource('acme-one', 'a', { automationId, expect: expectation })],
      });
      expect(automations).to.deep.equal([]);
      expect(said[0]?.slice(1, 3)).to.deep.equal([false, reason]);
      expect(said[0]?.[3]).to.match(/^spec\.expect\.\w+: \w/);
    });
  }

  it('have the name of the resource if they have no other', () => {
    const names = declared({
      resources: [
        resource('acme-one', 'invoices', { automationId }),
        resource('globex', 'invoices', { automationId, displayName: 'Invoices' }),
      ],
    }).automations.map(({ displayName }) => displayName);
    expect(names).to.deep.equal(['invoices', 'Invoices']);
  });

  it('of channels without keys are kept, so that their notifications wait', () => {
    const { channels, said } = declared({
      channels: [
        resource('acme-one', 'w', { type: 'webhook', url: 'https://acme.example/', secretRef: { name: 'keys' } }),
      ],
      keysOf: () => ({ reason: 'SecretNotFound', problem: 'it does not exist' }),
    });
    expect(channels).to.deep.equal([
      {
        organization: 'acme',
        namespace: 'acme-one',
        name: 'w',
        type: 'webhook',
        url: 'https://acme.example/',
        to: [],
        secretRef: 'keys',
        kinds: [],
        filter: {},
        quietHours: null,
      },
    ]);
    expect(said).to.deep.equal([['acme-one/w', false, 'SecretNotFound', 'Secret keys: it does not exist']]);
  });

  for (const [changes, message] of [
    [{ url: 'http://acme.example' }, 'spec.url: must be an address that begins with https://'],
    [{ url: 'https://user@acme.example' }, 'spec.url: must not hold a user name or password'],
    [{ secretRef: {} }, 'spec.secretRef.name: is required'],
    [{ kinds: ['automation.gone'] }, 'spec.kinds: automation.gone is unknown; known are automation.missing'],
    [{ filter: { automations: ['invoices'] } }, 'spec.filter.automations: invoices is not a UUID'],
    [{ kinds: 'all' }, 'spec.kinds: must be a list of at most 20 texts'],
    [{ type: 'fax' }, 'spec.type: must be one of webhook, email, slack, teams, googlechat, discord, ntfy'],
    [{ type: 'slack' }, 'spec.url: must be absent: only a webhook has it; that of a chat is in its Secret'],
    [{ to: ['ana@acme.example'] }, 'spec.to: must be absent: only an email channel has it'],
    [
      { type: 'email', url: undefined, secretRef: undefined, to: ['Ana <ana@x>'] },
      'spec.to: Ana <ana@x> is not a mail',
    ],
    [{ quietHours: { from: '22:00', to: '7' } }, 'spec.quietHours.to: must be a time such as 22:00'],
    [{ quietHours: { from: '22:00', to: '22:00' } }, 'spec.quietHours.to: must differ from `from`'],
    [{ quietHours: { from: '22:00', to: '07:00', timeZone: 'Mars' } }, 'spec.quietHours.timeZone: must be a time zone'],
  ] as const) {
    it(`refuse a channel with ${JSON.stringify(changes)}`, () => {
      const spec = { type: 'webhook', url: 'https://acme.example/', secretRef: { name: 'keys' }, ...changes };
      const { channels, said } = declared({ channels: [resource('acme-one', 'w', spec)] });
      expect(channels).to.deep.equal([]);
      expect(said[0]?.[2]).to.equal('InvalidSpec');
      expect(said[0]?.[3]).to.include(message);
    });
  }

  it('refuse each text that Postgres cannot hold, also in lists', () => {
    const secretRef = { name: 'key' };
    const channel = (spec: object) =>
      resource('acme-one', 'hook', { type: 'webhook', url: 'https://acme.example', secretRef, ...spec });
    const { channels, said } = declared({
      resources: [resource('acme-one', 'a', { automationId, owner: 'a\0b' })],
      channels: [
        channel({ filter: { owners: ['a', 'a\0b'] } }),
        channel({ filter: { owners: ['a'.repeat(201)] } }),
        channel({ kinds: ['\ud800'] }),
        channel({ secretRef: { name: '../configmaps/a' } }),
      ],
    });
    expect(channels).to.deep.equal([]);
    expect(said.map(([, , reason, message]) => `${reason}: ${message}`)).to.deep.equal([
      'InvalidSpec: spec.owner: must not contain U+0000 or unpaired surrogates',
      'InvalidSpec: spec.filter.owners: each must not contain U+0000 or unpaired surrogates',
      'InvalidSpec: spec.filter.owners: each must not be longer than 200 characters',
      'InvalidSpec: spec.kinds: each must not contain U+0000 or unpaired surrogates',
      'InvalidSpec: spec.secretRef.name: must be the name of a Secret',
    ]);
  });

  it('of an organization beyond its bounds are refused, the newest first, and no others', () => {
    const id = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
    const links = Array.from({ length: 20 }, () => ({
      title: 'x'.repeat(200),
      url: `https://acme/${'y'.repeat(1_900)}`,
    }));
    const hostile = Array.from({ length: 200 }, (_, index) =>
      resource('acme-one', `h-${index}`, { automationId: id(index), links }, index === 0 ? 59 : 1),
    );
    const secretRef = { name: 'key' };
    const hooks = Array.from({ length: 51 }, (_, index) =>
      resource('acme-two', `w-${String(index).padStart(3, '0')}`, {
        type: 'webhook',
        url: 'https://acme.example',
        secretRef,
      }),
    );
    const quiet = resource('globex', 'q', { automationId });
    const { automations, channels, said } = declared({ resources: [...hostile, quiet], channels: hooks });
    const left = said.filter(([, , reason]) => reason === 'TooMany').map(([name]) => name);
    expect(left).to.include('acme-one/h-0').and.to.include('acme-two/w-050');
    expect(automations.length).to.be.within(90, 110);
    expect(automations.at(-1)).to.include({ organization: 'globex' });
    expect(channels).to.have.length(50);
    expect(JSON.stringify(automations).length * 2).to.be.below(9 * 1024 * 1024);
  });
});
