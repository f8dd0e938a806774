import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { installDefinitions } from '../support/cluster/automation-definitions.ts';
import { clusterCommands } from '../support/document-blocks.ts';
import { established } from '../support/cluster/optional-apis.ts';
import { Release } from '../support/cluster/release.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { findKubectl } from '../support/helm-binaries.ts';
import { objectOf, type Manifest } from '../support/helm-manifests.ts';
import { chart, render, repository } from '../support/helm.ts';
import { until } from '../support/until.ts';

type Spec = Record<string, unknown>;
/** A change of a valid spec, the field that is refused, and the reason. */
type Refused = [Spec, string, string];

const automationId = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';
const suspended = { automationId, suspend: true };
const secretRef = { name: 'keys' };

/** Each refused `expect`, and the sentence that the API server answers with. */
const refusedExpectations: Refused[] = [
  [{}, 'spec.expect', 'set at least one of schedule, every, maxDuration, failures and lostAfter'],
  [{ schedule: '0 2 * * *', every: '1h' }, 'spec.expect', 'set schedule or every, not both'],
  [{ every: '1h', timeZone: 'UTC' }, 'spec.expect', 'timeZone needs a schedule'],
  [{ maxDuration: '1h', grace: '5m' }, 'spec.expect', 'grace needs a schedule or every'],
  ...['90', '', '9s', '1 hour', '5m1h', '-5m', '0d', '8785h'].map((every): Refused => [
    { every },
    'spec.expect.every',
    'must be a duration from 10s to 366d, such as 45s, 10m, 1h30m or 2d',
  ]),
  [{ every: '1h', grace: '169h' }, 'spec.expect.grace', 'must be a duration up to 7d, such as'],
  [{ maxDuration: '0s' }, 'spec.expect.maxDuration', 'must be a duration from 1s to 31d, such as'],
  ...[{ consecutive: 1, count: 2, within: '1h' }, { consecutive: 2, rate: 5, of: 10 }, {}].map((failures): Refused => [
    { failures },
    'spec.expect.failures',
    'set exactly one form: never, or consecutive, or count and within, or rate and of',
  ]),
  [{ failures: { count: 3 } }, 'spec.expect.failures', 'count and within belong together'],
  [{ failures: { of: 50 } }, 'spec.expect.failures', 'rate and of belong together'],
  [{ failures: { rate: 101, of: 50 } }, 'spec.expect.failures.rate', '101:'],
  [{ failures: { rate: 0, of: 50 } }, 'spec.expect.failures.rate', '0:'],
  [{ failures: { consecutive: 0 } }, 'spec.expect.failures.consecutive', '0:'],
  [{ failures: { count: 3, within: '1w' } }, 'spec.expect.failures.within', 'must be a duration'],
];

const refusedAutomations: Refused[] = [
  [{ automationId: 'invoices' }, 'spec.automationId', 'must be a UUID, such as'],
  [{ automationId: undefined }, 'spec.automationId', 'Required value'],
  [
    { links: [{ title: 'Runbook', url: 'wiki/invoices' }] },
    'spec.links[0].url',
    'must be an address that begins with https:// or http://',
  ],
  [{ links: [{ title: 'Runbook' }] }, 'spec.links[0].url', 'Required value'],
  [
    { alertLabels: { 'team-name': 'a' } },
    'spec.alertLabels',
    'a label is at most 63 letters, digits and "_", and does not begin with a digit',
  ],
  [{ owner: 'a\u0000b' }, 'spec.owner', 'should match'],
  [{ alertLabels: { team: 'a\u0000b' } }, 'spec.alertLabels.team', 'should match'],
  [
    { alertLabels: { organization: 'globex' } },
    'spec.alertLabels',
    'alertname, organization and automation are set by Runledger',
  ],
  ...refusedExpectations.map(([expectation, field, message]): Refused => [{ expect: expectation }, field, message]),
];

const refusedChannels: Refused[] = [
  [{ url: 'http://acme.example' }, 'spec.url', 'must be an address that begins with https://'],
  [{ url: 'https://' }, 'spec.url', 'must be an address that begins with https://'],
  [{ url: 'https://user:password@acme.example' }, 'spec.url', 'must not hold a user name or password'],
  [{ secretRef: undefined }, 'spec', 'secretRef: every type has it, except email'],
  [{ type: undefined }, 'spec.type', 'Required value'],
  [{ type: 'slack' }, 'spec', 'url: a webhook has it, and no other type'],
  [{ to: ['ana@acme.example'] }, 'spec', 'to: an email channel has it, and no other type'],
  [{ quietHours: { from: '22:00', to: '7' } }, 'spec.quietHours.to', 'should match'],
  [{ kinds: ['automation.mising'] }, 'spec.kinds[0]', 'Unsupported value: "automation.mising"'],
  [{ filter: { owners: ['a\u0000b'] } }, 'spec.filter.owners[0]', 'should match'],
  [{ secretRef: { name: '../configmaps/a' } }, 'spec.secretRef.name', 'should match'],
  [{ filter: { automations: ['invoices'] } }, 'spec.filter.automations[0]', 'must be a UUID'],
];

describe('definitions of Automation and Channel in a real API server', () => {
  let namespace: string;
  let release: Release;
  before(async () => {
    await installDefinitions(sharedCluster());
    release = await Release.prepare(sharedCluster());
  });
  after(() => release.cleanUp());
  beforeEach(async () => {
    namespace = `automations-${randomBytes(4).toString('hex')}`;
    await sharedCluster().admin.must('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  });

  const collection = (kind: string): string =>
    `/apis/runledger.dev/v1beta1/namespaces/${namespace}/${kind.toLowerCase()}s`;

  /** The answer of the API server to a new resource. Without a spec's field it is undefined. */
  const create = (kind: string, spec: Spec, name = 'a') =>
    sharedCluster().admin.call('POST', `${collection(kind)}?fieldValidation=Strict`, {
      apiVersion: 'runledger.dev/v1beta1',
      kind,
      metadata: { name },
      spec,
    });

  const kubectl = async (...args: string[]): Promise<string> => {
    const common = ['--kubeconfig', release.kubeconfig, '--cache-dir', `${release.kubeconfig}-cache`];
    return (await promisify(execFile)(await findKubectl(), [...common, ...args])).stdout;
  };

  it('accept the examples', async () => {
    const text = await readFile(join(repository, 'deploy/examples/automations.yaml'), 'utf8');
    const examples = parseAllDocuments(text).map((document) => document.toJS() as Manifest & { spec: Spec });
    const own = examples.filter(({ apiVersion }) => apiVersion === 'runledger.dev/v1beta1');
    expect(own.map(({ kind }) => kind)).to.deep.equal([
      'Automation',
      'Automation',
      'Automation',
      'Channel',
      'Channel',
      'Channel',
    ]);
    for (const { kind, metadata, spec } of own) {
      const { status, text: answer } = await create(kind, spec, metadata.name);
      expect(status, answer).to.equal(201);
    }
  });

  for (const expectation of [
    { every: '10s', grace: '0s' },
    { every: '366d' },
    { every: '1d12h', grace: '7d' },
    { maxDuration: '31d', failures: { count: 1, within: '1s' } },
  ]) {
    it(`accept ${JSON.stringify(expectation)}`, async () => {
      const { status, text } = await create('Automation', { automationId, expect: expectation });
      expect(status, text).to.equal(201);
    });
  }

  for (const [changes, field, message] of refusedAutomations) {
    it(`refuse an Automation with ${JSON.stringify(changes)}`, async () => {
      const { status, body } = await create('Automation', { automationId, ...changes });
      expect(status).to.equal(422);
      expect(body['message']).to.include(`${field}: `).and.to.include(message);
    });
  }

  for (const [changes, field, message] of refusedChannels) {
    it(`refuse a Channel with ${JSON.stringify(changes)}`, async () => {
      const { status, body } = await create('Channel', {
        type: 'webhook',
        url: 'https://acme.example/hook',
        secretRef,
        ...changes,
      });
      expect(status).to.equal(422);
      expect(body['message']).to.include(`${field}: `).and.to.include(message);
    });
  }

  it('refuse a field that they do not know', async () => {
    const { status, body } = await create('Automation', { automationId, organization: 'globex' });
    expect([status, body['message']]).to.deep.equal([
      400,
      'Automation in version "v1beta1" cannot be handled as a Automation: strict decoding error: unknown field "spec.organization"',
    ]);
  });

  it('explain each field of expect', async () => {
    const explained = await until('the definition is published', () =>
      kubectl('explain', 'automation.spec.expect').catch(() => undefined),
    );
    expect(explained).to.include('What is expected of the automation.');
    for (const field of ['every', 'failures', 'grace', 'maxDuration', 'schedule', 'timeZone']) {
      expect(explained).to.match(new RegExp(`^ {2}${field}\\t<\\w+>\\n {4}\\S`, 'm'));
    }
    const below = await kubectl('explain', 'automation.spec.expect.failures', '--recursive');
    expect(below).not.to.include('<no description>');
  });

  it('print name, last run, state, health and age', async () => {
    await create('Automation', { automationId }, 'nightly-invoices');
    const now = new Date().toISOString();
    const condition = { type: 'Healthy', status: 'False', reason: 'Missing', message: '', lastTransitionTime: now };
    await sharedCluster().admin.must('PATCH', `${collection('Automation')}/nightly-invoices/status`, {
      status: {
        lastExecution: { executionId: 'one', state: 'failed', startedAt: new Date(Date.now() - 3_600_000) },
        conditions: [condition],
      },
    });
    const [header, row] = (await kubectl('get', 'automations', '-n', namespace)).split('\n');
    expect(header?.split(/ {2,}/)).to.deep.equal(['NAME', 'LAST RUN', 'STATE', 'HEALTHY', 'AGE']);
    expect(row?.split(/ {2,}/).slice(0, 4)).to.deep.equal(['nightly-invoices', '60m', 'failed', 'False']);
  });

  it('are upgraded with the release, and stay with the resources when it goes', async () => {
    const older = await olderChart();
    await release.helm('install', release.name, older, '--take-ownership', '--force-conflicts');
    await until('the older definition is served', async () => (await create('Automation', suspended)).status === 400);
    await release.upgrade();
    await until('the new one is served', async () => (await create('Automation', suspended)).status === 201);

    await release.helm('uninstall', release.name);
    const { status } = await sharedCluster().admin.call('GET', `${collection('Automation')}/a`);
    expect(status).to.equal(200);
    await rm(older, { recursive: true });
  });

  for (const [kind, declared] of [
    ['Automation', { ...suspended, tags: ['night'], expect: { every: '1h', failures: { count: 3, within: '6h' } } }],
    ['Channel', { type: 'webhook', url: 'https://acme.example/hook', secretRef }],
  ] as const) {
    it(`move to a next version of ${kind} by the documented lines, and lose nothing on the way`, async () => {
      const { admin } = sharedCluster();
      const plural = `${kind.toLowerCase()}s`;
      // A copy in a group of its own: a stored version cannot be taken back.
      const group = `next-${randomBytes(4).toString('hex')}.runledger.dev`;
      const rendered = await render(['--show-only', `templates/crds/${plural}.yaml`]);
      const shipped = objectOf(rendered, 'CustomResourceDefinition', `${plural}.runledger.dev`);
      const [version] = (shipped['spec'] as { versions: Record<string, unknown>[] }).versions;
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}`;
      const define = (...versions: object[]): Promise<{ status: number; text: string }> =>
        admin.call('PATCH', path, { spec: { versions } });
      const spec = { ...(shipped['spec'] as object), group };
      await admin.must('POST', dirname(path), { ...shipped, metadata: { name: `${plural}.${group}` }, spec });
      await established(admin, `${plural}.${group}`);
      const at = (served: string): string => `/apis/${group}/${served}/namespaces/${namespace}/${plural}`;
      const make = (served: string, name: string): Promise<unknown> =>
        admin.must('POST', at(served), {
          apiVersion: `${group}/${served}`,
          kind,
          metadata: { name },
          spec: declared,
        });
      /** Once the API server has opened the storage of its new versions, which 429 tells. */
      const listed = (served: string): Promise<{ apiVersion: string; spec: object }[]> =>
        until(`${served} is served`, async () => {
          const { status, body } = await admin.call('GET', at(served));
          return status === 200 ? (body['items'] as { apiVersion: string; spec: object }[]) : undefined;
        });
      await make('v1beta1', 'older');

      // The next release stores v1, and still serves v1beta1: to controllers of this one, too.
      await define({ ...version, name: 'v1', storage: true }, { ...version, storage: false });
      await listed('v1');
      await make('v1', 'newer');
      for (const served of ['v1beta1', 'v1']) {
        const items = await listed(served);
        const expected = { apiVersion: `${group}/${served}`, spec: declared };
        expect(items.map(({ apiVersion, spec }) => ({ apiVersion, spec }))).to.deep.equal([expected, expected]);
      }

      // The one after drops v1beta1. The API server refuses that while resources may be stored in
      // it.
      const early = await define({ ...version, name: 'v1', storage: true });
      expect(early.text).to.include('must remain in spec.versions until a storage migration');
      const ofKinds = clusterCommands('docs/operate/upgrade.md', 1).split('\n\n');
      const lines = ofKinds.find((of) => of.includes(plural)) ?? '';
      await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', lines.replaceAll('runledger.dev', group)], {
        env: {
          ...process.env,
          KUBECONFIG: release.kubeconfig,
          PATH: `${dirname(await findKubectl())}:${process.env['PATH']}`,
        },
      });
      expect((await define({ ...version, name: 'v1', storage: true })).status).to.equal(200);
      expect((await listed('v1')).map(({ spec }) => spec)).to.deep.equal([declared, declared]);
      await admin.must('DELETE', path);
    });
  }

  it('are left out with crds.install=false', async () => {
    await release.install('--set', 'crds.install=false');
    const kinds = (await release.manifests()).map(({ kind }) => kind);
    expect(kinds).to.include('Deployment').and.not.to.include('CustomResourceDefinition');
    await release.helm('uninstall', release.name);
  });
});

/** A copy of the chart whose Automation has no field `suspend`. */
async function olderChart(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'runledger-chart-'));
  await cp(chart, folder, { recursive: true });
  const file = join(folder, 'templates/crds/automations.yaml');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace(/^ {2}suspend:\n( {4}.*\n)+/m, ''));
  return folder;
}
