import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { chart, helm, kubeVersion, optionalApis, shapes, template, valuesOf } from '../support/helm.ts';
import { parseManifests, podsOf, secretFilesOf, type Container, type Manifest } from '../support/helm-manifests.ts';
import { ownVersion } from '../support/version.ts';
import { processOf, wireProcess } from '../support/wired-process.ts';

/** The oldest Kubernetes that the chart is made for. */
const oldest = '1.29.0';

/**
 * The APIs that the chart may render: every supported version serves them, and none is deprecated.
 */
const allowedApis = new Set([
  'v1',
  'apiextensions.k8s.io/v1',
  'apps/v1',
  'autoscaling/v2',
  'batch/v1',
  'networking.k8s.io/v1',
  'policy/v1',
  'rbac.authorization.k8s.io/v1',
  'gateway.networking.k8s.io/v1',
  'keda.sh/v1alpha1',
  'monitoring.coreos.com/v1',
]);

/** In the snapshots it is no number, so that a new one changes none. */
const version = await ownVersion();

const clusterScoped = new Set(['ClusterRole', 'ClusterRoleBinding', 'CustomResourceDefinition', 'Namespace']);

/*
 * The snapshots show what each shape renders; the other tests show what single values change.
 */
for (const shape of await shapes()) {
  describe(`chart, shape ${shape}`, () => {
    let rendered: string;
    let manifests: Manifest[];
    before(async () => {
      rendered = await template(['--values', valuesOf(shape)]);
      manifests = parseManifests(rendered);
    });

    it('passes helm lint --strict', async () => {
      const arguments_ = ['--strict', '--values', valuesOf(shape), '--set', 'renderMode=alwaysRender'];
      const report = await helm(['lint', chart, '--kube-version', kubeVersion, ...arguments_]);
      expect(report).to.include('1 chart(s) linted, 0 chart(s) failed');
    });

    it('renders the snapshot', async () => {
      const found = withoutContent(withoutRandom(rendered)).replaceAll(version, '(version)');
      const file = join(import.meta.dirname, 'snapshots', `${shape}.yaml`);
      if (process.env['UPDATE_SNAPSHOTS'] !== undefined) await writeFile(file, found);
      const hint = 'a change on purpose? UPDATE_SNAPSHOTS=1 mocha test/chart/shapes.test.ts';
      expect(found, hint).to.equal(await readFile(file, 'utf8'));
    });

    it('renders the same for every supported Kubernetes, with no deprecated API', async () => {
      const older = await template(['--values', valuesOf(shape), '--kube-version', oldest]);
      expect(withoutRandom(older)).to.equal(withoutRandom(rendered));
      for (const { apiVersion, kind } of manifests) expect(allowedApis, `${kind} ${apiVersion}`).to.include(apiVersion);
    });

    it('names, labels and places every object', () => {
      const seen = new Set<string>();
      for (const { kind, metadata } of manifests) {
        const identity = `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
        expect(seen, identity).not.to.include(identity);
        seen.add(identity);
        if (identity === 'ConfigMap /runledger-note') continue; // extraObjects are the user's.
        expect(metadata.labels, identity).to.include({
          'app.kubernetes.io/name': 'runledger',
          'app.kubernetes.io/instance': 'runledger',
          'app.kubernetes.io/managed-by': 'Helm',
          'helm.sh/chart': `runledger-${version}`,
        });
        if (!clusterScoped.has(kind)) expect(metadata.namespace, identity).to.be.a('string');
      }
    });

    it('gives every pod the rights it needs and no more', () => {
      for (const { name, spec } of podsOf(manifests)) {
        expect(spec.securityContext, name).to.deep.include({
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        expect(spec.securityContext?.['runAsUser'], name).to.be.greaterThan(0);
        expect(spec.enableServiceLinks, name).to.equal(false);
        expect(spec.automountServiceAccountToken, name).to.equal(/-(ingest|console|controller)$/.test(name));
        for (const container of containersOf(spec)) {
          expect(container.securityContext, `${name}/${container.name}`).to.deep.equal({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
        }
      }
    });

    it('sets what each process accepts, and nothing that it does not read', async () => {
      const containers = podsOf(manifests).flatMap(({ spec }) => containersOf(spec));
      const found: [string, string[]][] = [];
      for (const container of containers) {
        const name = processOf(container);
        if (name !== undefined) found.push([name, await wireProcess(name, container)]);
      }
      expect(found.map(([name]) => name)).to.include.members(['ingest', 'worker', 'migrate', 'controller']);
      for (const [name, unread] of found) expect(unread, name).to.deep.equal([]);
    });

    it('gives passwords to every container as files, and no container a file that it does not name', () => {
      for (const { name, spec } of podsOf(manifests)) {
        const named = containersOf(spec).map((container) => secretFilesOf(container));
        const volume = spec.volumes?.find((one) => one.name === 'secrets');
        expect(mountedFiles(volume), name).to.have.members([...new Set(named.flat())]);
        for (const [index, container] of containersOf(spec).entries()) {
          const mounted = container.volumeMounts?.find((one) => one.name === 'secrets');
          expect(mounted !== undefined, `${name}/${container.name}`).to.equal(named[index]?.length !== 0);
          expect(JSON.stringify(container.env ?? []), `${name}/${container.name}`).not.to.include('secretKeyRef');
        }
      }
    });

    it('gives every container resources, a pinned image and each variable once', () => {
      for (const { name, spec } of podsOf(manifests)) {
        for (const container of containersOf(spec)) {
          const who = `${name}/${container.name}`;
          expect(container.resources?.requests, who).to.have.all.keys('cpu', 'memory');
          expect(container.resources?.limits, who).to.have.property('memory');
          expect(container.image, who).to.match(/:\d+\.\d+(\.\d+)?$|@sha256:[0-9a-f]{64}$/);
          const variables = (container.env ?? []).map((entry) => entry.name);
          expect(variables, who).to.deep.equal([...new Set(variables)]);
        }
      }
    });
  });
}

/** Names that YAML reads as a number, as a boolean, and as a power of ten. */
const [digits, boolean, power] = ['2024', 'on', '1e3'];

const secret = { name: digits, key: boolean };
const credentials = { name: power, usernameKey: digits, passwordKey: '0' };
const pods = { runtimeClassName: digits, priorityClassName: boolean };
const everywhere = {
  nameOverride: digits,
  commonLabels: { year: digits },
  tokens: { namespace: '42', createNamespace: true },
  demo: { enabled: true, organization: digits },
  config: { ledgerKeySecret: '2026', hotDays: 7 },
  ingest: { ...pods, serviceAccount: { name: digits }, autoscaling: { enabled: true } },
  worker: { ...pods, serviceAccountName: boolean },
  controller: {
    ...pods,
    namespaces: [digits],
    channelSecrets: [{ namespace: digits, name: boolean }],
    captureJobs: { enabled: true },
    mail: { existingSecret: digits, from: 'runledger@example.com' },
  },
  archive: {
    url: 's3://record',
    region: digits,
    serviceAccountName: power,
    credentialsSecret: { name: digits, accessKeyIdKey: '0', secretAccessKeyKey: boolean },
  },
};
const oidc = { issuer: 'https://login.example.com', clientId: digits, clientSecret: secret, organizations: { a: '1' } };

/** Every optional feature with such names, in two installations: some exclude each other. */
const featured: Record<string, object> = {
  'the bundled servers, behind an Ingress': {
    ...everywhere,
    ingress: { enabled: true, className: digits, hosts: ['1.2'], tls: { secretName: digits, clusterIssuer: boolean } },
    console: {
      ...pods,
      ingress: { enabled: true, className: boolean, hosts: ['1.3'], tls: { secretName: boolean, issuer: digits } },
      autoscaling: { enabled: true },
    },
    caBundle: { configMap: digits, key: '0' },
    redis: { auth: { existingSecret: digits }, runtimeClassName: digits, persistence: { storageClass: digits } },
    postgresql: { auth: { existingSecret: boolean }, persistence: { storageClass: boolean } },
    worker: { ...everywhere.worker, autoscaling: { enabled: true } },
    metrics: {
      serviceMonitor: { enabled: true, labels: { release: digits } },
      prometheusRule: { enabled: true, labels: { release: digits } },
      dashboards: { enabled: true },
    },
  },
  'servers of your own, behind a Gateway': {
    ...everywhere,
    gateway: { enabled: true, hostnames: ['1.2'], create: { enabled: true, className: digits, tlsSecretName: power } },
    console: {
      ...pods,
      gateway: { enabled: true, hostnames: ['1.3'], tlsSecretName: digits },
      database: { host: digits, credentialsSecret: credentials },
      sessions: { urlSecret: secret },
      oidc,
    },
    caBundle: { secret: digits, key: '0' },
    redis: { enabled: false },
    externalRedis: {
      host: digits,
      sentinels: ['1:26379'],
      drainedShards: [digits],
      tls: true,
      credentialsSecret: credentials,
      sentinelSecret: { ...credentials, name: digits },
    },
    postgresql: { enabled: false },
    externalPostgresql: { urlSecret: secret },
    otherPostgresql: { eu: { urlSecret: secret, replicaUrlSecret: { name: boolean, key: digits } } },
    worker: { ...everywhere.worker, keda: { enabled: true } },
    metrics: { podMonitor: { enabled: true, labels: { release: digits } } },
  },
};

describe('chart, names that YAML could read as another type', () => {
  for (const [about, values] of Object.entries(featured)) {
    for (const name of [digits, boolean, power]) {
      it(`stay texts in a release and a namespace ${name} with ${about}`, async () => {
        const set = Object.entries(values).flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]);
        const apis = optionalApis.flatMap((api) => ['--api-versions', api]);
        const target = [name, chart, '--namespace', name, '--kube-version', kubeVersion];
        const rendered = await helm(['template', ...target, ...apis, ...set]);
        // As Helm and kubectl read it; in YAML 1.2 `on` is a text.
        const documents = parseAllDocuments(rendered, { version: '1.1' });
        const manifests = documents.flatMap((document) => ('errors' in document ? [document.toJS() as Manifest] : []));
        const own = manifests.filter((one) => one !== null && one.kind !== 'CustomResourceDefinition');
        expect(own).to.have.length.above(30);
        const found = own.flatMap((one) => textsIn(one, `${one.kind} ${one.metadata.name}`));
        expect(found.filter(([, value]) => typeof value !== 'string')).to.deep.equal([]);
        const namespaces = found.filter(([path]) => path.endsWith('.metadata.namespace')).map(([, value]) => value);
        expect([...new Set(namespaces)]).to.have.members([...new Set([name, '42', digits])]);
        for (const { name: pod, spec } of podsOf(own)) {
          const paths = containersOf(spec).flatMap((container) => secretFilesOf(container));
          const volume = spec.volumes?.find((one) => one.name === 'secrets');
          expect(mountedFiles(volume), pod).to.have.members([...new Set(paths)]);
        }
      });
    }
  }
});

/** What must be a text in an object: names, labels, annotations and variables, by their path. */
function textsIn(value: unknown, path: string, isText = false): [path: string, value: unknown][] {
  if (value === null || typeof value !== 'object') return isText ? [[path, value]] : [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const ofMap = /\.(labels|annotations|matchLabels|nodeSelector|data|metadata)$/.test(path) || isSelector(path);
    const ofName = /^(name|namespace|key|path|address|host|hostname|\w+Name|\w+Class|resourceNames)$/.test(key);
    return textsIn(inner, `${path}.${key}`, ofMap || ofName || /\.env\.\d+$|\.resourceNames$/.test(path));
  });
}

/** The selector of a Service is a map of labels. */
function isSelector(path: string): boolean {
  return /^Service \S+\.spec\.selector$/.test(path);
}

/** The files of the volume with Secrets, below its folder. */
function mountedFiles(volume: { [source: string]: unknown } | undefined): string[] {
  const sources = (volume?.['projected'] as { sources: { secret: { items: { path: string }[] } }[] } | undefined)
    ?.sources;
  return (sources ?? []).flatMap(({ secret }) => secret.items.map(({ path }) => path));
}

function containersOf(spec: ReturnType<typeof podsOf>[number]['spec']): Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

/** Removes alerts, dashboards and resource definitions, which have their own tests. */
function withoutContent(rendered: string): string {
  const documents = rendered
    .split(/^(?=---\n)/m)
    .filter((document) => !/templates\/(monitoring\/dashboards|crds\/)/.test(document));
  return documents
    .map((document) => document.replace(/(kind: PrometheusRule\n[^]*?\nspec:\n)[^]*/, '$1  (files/alerts.yaml)\n'))
    .join('');
}

/** Replaces the random values, which differ at every rendering without a cluster. */
function withoutRandom(rendered: string): string {
  return rendered.replaceAll(/^( {2}(?:password|token|read-token|tls\.crt|tls\.key)): .+$/gm, '$1: (random)');
}
