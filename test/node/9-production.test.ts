import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { ApiClient } from '../support/api-client.ts';
import { Browser } from '../support/browser.ts';
import { createKeyPair, type KeyPair } from '../support/certificate.ts';
import { installOptionalApis } from '../support/cluster/optional-apis.ts';
import { clusterCommands } from '../support/document-blocks.ts';
import { eventBody } from '../support/events.ts';
import { chart, repository } from '../support/helm.ts';
import { connectionsFrom } from '../support/node/connections.ts';
import { stepsOf } from '../support/node/first-steps.ts';
import type { Kubernetes } from '../support/node/kubernetes.ts';
import { playCloudNativePg, playKeda, PlayedAlertmanagers, type Images } from '../support/node/operators.ts';
import { sharedKubernetes } from '../support/node/shared-kubernetes.ts';
import { until } from '../support/until.ts';

/** What its reader replaces, and what is too large for the nodes of the tests, by file. */
const replacements: Readonly<Record<string, readonly [RegExp, string]>> = {
  'production-values.yaml': [/(kubernetes\.io\/metadata\.name: )gateways/g, '$1traefik'],
  'redis.yaml': [/requests: \{ cpu: '1', memory: 6Gi \}/g, 'requests: { cpu: 100m, memory: 64Mi }'],
};

const hosts = { events: 'events.example.com', record: 'record.example.com' };

// The last file: it removes the release of the others. Their operators' images are in registries
// only, so the test makes what CloudNativePG, KEDA and the Prometheus Operator make of the objects.
describe('the worked example for production, on real nodes', () => {
  let kubernetes: Kubernetes;
  let folder: string;
  let images: Images;
  let certificate: KeyPair;
  let alertmanagers: PlayedAlertmanagers;
  /** The commands of the page, in two blocks. */
  let installation: string[];
  let declarations: string;
  let notes: string;
  let readToken: string;
  let writeToken: string;

  before(async () => {
    kubernetes = sharedKubernetes();
    await kubernetes.shell(`helm uninstall runledger --namespace runledger --ignore-not-found --wait
      kubectl delete namespace runledger runledger-tokens --ignore-not-found`);
    await installOptionalApis(kubernetes.api);
    images = await imagesOfChart();
    certificate = await createKeyPair(hosts.events, hosts.record);
    alertmanagers = new PlayedAlertmanagers(kubernetes);
    await alertmanagers.start(images);
    await kubernetes.apply(...gateway(certificate));
    for (const node of ['n1', 'n2']) {
      await kubernetes.kubectl('label', 'node', node, `topology.kubernetes.io/zone=${node}`, '--overwrite');
    }
    folder = await mkdtemp(join(tmpdir(), 'runledger-production-'));
    const examples = join(folder, 'deploy/examples');
    await cp(join(repository, 'deploy/examples'), examples, { recursive: true });
    for (const [file, [from, to]] of Object.entries(replacements)) {
      const text = await readFile(join(examples, file), 'utf8');
      expect(text, file).to.match(from);
      await writeFile(join(examples, file), text.replaceAll(from, to));
    }
    await writeFile(join(folder, 'ca.crt'), certificate.cert);
    const page = await readFile(join(examples, 'README.md'), 'utf8');
    const blocks = [...page.matchAll(/^```\n([^`]*)^```$/gm)].map(([, block = '']) => block.trim());
    expect(blocks).to.have.length(2);
    installation = (blocks[0] ?? '').replace(/oci:\S+ --version \S+/, chart).split('\n');
    declarations = blocks[1] ?? '';
  });
  after(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  /** Runs commands of the page. `curl` finds the hosts at a node, and trusts their certificate. */
  const run = (...commands: string[]): Promise<string> => {
    const resolve = Object.values(hosts).map((host) => `--resolve ${host}:443:${kubernetes.addressOf('n1')}`);
    const curl = `curl() { command curl --cacert ca.crt ${resolve.join(' ')} "$@"; }`;
    return kubernetes.shell([`cd ${folder}`, curl, ...commands].join('\n'));
  };

  const clientOf = (host: keyof typeof hosts, token?: string): ApiClient =>
    new ApiClient(
      `https://${kubernetes.addressOf('n2')}`,
      { host: hosts[host], ...(token !== undefined && { token }) },
      { ca: certificate.cert },
    );

  it('has objects that the API server and the definitions of the operators accept', async () => {
    const [namespace = '', secret = '', objects = ''] = installation;
    expect(objects).to.include('postgres.yaml');
    await run(namespace, secret, objects.replace('apply', 'apply --validate=strict'));
  });

  it('is installed by the commands of its page', async () => {
    const [, , , databaseIsReady = '', install = ''] = installation;
    await playCloudNativePg(kubernetes, images);
    await kubernetes.kubectl('rollout', 'status', 'statefulset/redis', '--namespace=runledger', '--timeout=120s');
    await run(databaseIsReady);
    notes = await run(install);
    await playKeda(kubernetes);
    const isComplete = async (): Promise<boolean> => {
      const ready = (await kubernetes.pods('runledger')).filter((pod) => pod.ready);
      const components = ready.map(({ name }) => /^runledger-(?!db)(\w+)/.exec(name)?.[1] ?? 'database');
      const expected = { ingest: 3, worker: 2, console: 2, controller: 2, database: 3 };
      return Object.entries(expected).every(([name, count]) => components.filter((of) => of === name).length === count);
    };
    await until('as many pods are ready as its autoscalers say', isComplete, 180_000, 500);
    const pods = await kubernetes.pods('runledger');
    expect(pods.filter(({ restarts }) => restarts > 0)).to.deep.equal([]);
    const nodes = pods.filter(({ name }) => name.includes('ingest')).map(({ node }) => node);
    expect([...new Set(nodes)].sort(), 'ingest is in every zone').to.deep.equal(['n1', 'n2']);
  });

  it('takes an event through the Gateway, and shows it', async () => {
    const [wait = '', tokens = '', register = '', readExecution = ''] = await stepsOf(notes);
    const printed = await run(wait, tokens, 'printf "%s %s\n" "$TOKEN" "$READ_TOKEN"');
    [, writeToken = '', readToken = ''] = /^(rl_\S+) (rlr_\S+)$/m.exec(printed) ?? [];
    const withTokens = [`TOKEN=${writeToken} READ_TOKEN=${readToken}`];
    const receipt = async (): Promise<string | undefined> => {
      const answer = await run(...withTokens, register).catch(String);
      return answer.includes('"type_of_event":"START"') ? answer : undefined;
    };
    await until('the token is known, and the Gateway leads to ingest', receipt, 240_000, 500);
    const isRunning = async (): Promise<boolean> =>
      (await run(...withTokens, readExecution)).includes('"execution_id":"first","state":"running"');
    await until('the execution can be read', isRunning, 30_000, 500);
  });

  it('lets people log in with the read token, and shows them the execution', async () => {
    const client = clientOf('record');
    const browser = new Browser(client);
    const login = await browser.post('/login', { token: readToken });
    expect(login.status, login.body).to.equal(303);
    expect((await browser.get('/o/acme/executions')).body).to.include('>first<');
    client.close();
  });

  /** Runs a statement in an instance of Postgres, as its administrator. */
  const ask = (instance: string, sql: string, database = 'postgres'): Promise<string> => {
    const psql = ['psql', '-h', '/tmp', '-U', 'postgres', '-d', database, '-Atc', sql];
    return kubernetes.kubectl('exec', '--namespace=runledger', instance, '--', ...psql);
  };

  it('connects to Postgres by TLS, and reads from a replica as a role that sees one organization', async () => {
    const clients = `select distinct application_name, ssl from pg_stat_activity
      join pg_stat_ssl using (pid) where usename = 'runledger' order by 1`;
    expect(await ask('runledger-db-2', clients)).to.equal('runledger-console|t\n');
    const writers = ['controller', 'login', 'worker'].map((process) => `runledger-${process}|t\n`);
    expect(await ask('runledger-db-1', clients)).to.equal(writers.join(''));
    const metrics = await kubernetes.kubectl(
      'exec',
      '--namespace=runledger',
      'deployment/runledger-console',
      '--',
      'node',
      '--eval',
      "fetch('http://127.0.0.1:9090/metrics').then((answer) => answer.text()).then(console.log)",
    );
    expect(metrics).to.match(/^runledger_reader_role\S* 1$/m);
  });

  it('passes helm test', async () => {
    expect(await run(installation.at(-1) ?? '')).to.match(/^Phase: +Succeeded$/m);
  });

  it('issues, rotates and revokes a token by the commands of docs/operate/tokens.md', async () => {
    await run(clusterCommands('docs/operate/tokens.md').replaceAll('acme', 'globex'));
    const statusOf = async (file: string): Promise<string> =>
      run(`curl -s -o /dev/null -w '%{http_code}' https://${hosts.events}/v1/ping/ -H "token: $(cat ${file})"`);
    await until('the new token is known', async () => (await statusOf('globex.new-token')) === '200', 30_000, 250);
    await until('the old token is revoked', async () => (await statusOf('globex.token')) === '401', 30_000, 250);
  });

  it('declares automations by the commands of docs/watch/expect.md, and may read the Secrets of their channels', async () => {
    const printed = await run(clusterCommands('docs/watch/expect.md'), declarations);
    expect(printed).to.match(/^acme-automations +nightly-invoices /m);
    // What is expected holds for runs that start from then on.
    const holds = ['wait', '--for=condition=Ready', 'automation/nightly-invoices', '--timeout=120s'];
    await kubernetes.kubectl(...holds, '--namespace=acme-automations');
    for (const name of ['billing-chat', 'incidents-channel']) {
      const right = ['auth', 'can-i', 'get', `secret/${name}`, '--namespace=acme-automations'];
      const account = '--as=system:serviceaccount:runledger:runledger-controller';
      expect(await kubernetes.kubectl(...right, account), name).to.equal('yes\n');
    }
  });

  it('tells Alertmanager of a run that fails, as its automation declares', async () => {
    const caller = clientOf('events', writeToken);
    const { status } = await caller.register({
      automation_id: '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11',
      execution_id: 'night',
      event: 'ERROR',
      description: 'Could not send the invoices',
    });
    expect(status).to.equal(201);
    caller.close();
    await alertmanagers.got('"AutomationFailing"');
  });

  it('shows Prometheus the metrics of each pod that its PodMonitors name', async () => {
    const { items } = (await kubernetes.api.must(
      'GET',
      '/apis/monitoring.coreos.com/v1/namespaces/runledger/podmonitors',
    )) as { items: { spec: PodMonitor }[] };
    const scraped: string[] = [];
    for (const { spec } of items) {
      const selector = Object.entries(spec.selector.matchLabels)
        .map((label) => label.join('='))
        .join();
      const found = JSON.parse(
        await kubernetes.kubectl('get', 'pods', '--namespace=runledger', `--selector=${selector}`, '-o', 'json'),
      ) as { items: MonitoredPod[] };
      for (const { port, path = '/metrics' } of spec.podMetricsEndpoints) {
        for (const pod of found.items) {
          const ports = pod.spec.containers.flatMap((container) => container.ports ?? []);
          const number = ports.find(({ name }) => name === port)?.containerPort;
          if (number === undefined) continue;
          expect(await alertmanagers.scrape(`http://${pod.status.podIP}:${number}${path}`), pod.metadata.name).to.equal(
            200,
          );
          scraped.push(pod.metadata.labels['app.kubernetes.io/component'] ?? '');
        }
      }
    }
    expect(new Set(scraped)).to.deep.equal(new Set(['ingest', 'worker', 'console', 'controller']));
  });

  it('lets each of its parts lose a pod, and admits only the Gateway', async () => {
    const { items } = (await kubernetes.api.must(
      'GET',
      '/apis/policy/v1/namespaces/runledger/poddisruptionbudgets',
    )) as { items: { metadata: { name: string }; status: { disruptionsAllowed: number } }[] };
    const allowed = items.map(({ metadata, status }) => `${metadata.name} ${status.disruptionsAllowed}`);
    expect(allowed.sort()).to.deep.equal(
      ['console', 'controller', 'ingest', 'worker'].map((component) => `runledger-${component} 1`),
    );
    await kubernetes.kubectl('run', 'stranger', `--image=${images.node}`, '--command', '--', 'sleep', 'infinity');
    await kubernetes.kubectl('wait', '--for=condition=Ready', 'pod/stranger');
    const pod = (await kubernetes.pods('runledger')).find(({ name }) => name.includes('ingest'));
    const reached = await connectionsFrom(kubernetes, ['stranger'], {
      ingest: ['runledger.runledger.svc', 80],
      console: ['runledger-console.runledger.svc', 80],
      metrics: [pod?.address ?? '', 9090],
    });
    await kubernetes.kubectl('delete', 'pod', 'stranger', '--now');
    expect(reached).to.deep.equal({ ingest: false, console: false, metrics: false });
  });

  it('has copies of its Secret and authorities by the commands of docs/operate/secrets.md', async () => {
    const copy = clusterCommands('docs/operate/secrets.md', 0)
      .replaceAll('-n runledger', '-n copies')
      .replaceAll('-n databases', '-n runledger');
    await run('kubectl create namespace copies', 'mkdir copies', 'cp ca.crt copies/redis-ca.crt', 'cd copies', copy);
    const dataOf = (of: string, namespace: string): Promise<string> =>
      kubernetes.kubectl('get', of, '--namespace', namespace, '-o', 'go-template={{.data}}');
    const secret = 'secret/runledger-db-app';
    expect(await dataOf(secret, 'copies')).to.equal(await dataOf(secret, 'runledger'));
    expect((await dataOf('configmap/runledger-ca', 'copies')).match(/BEGIN CERTIFICATE/g)).to.have.length(2);
  });

  it('turns the proof on by the commands of docs/prove/log.md', async () => {
    // What a move needs: another database, and before Postgres 16 a superuser.
    await ask('runledger-db-1', 'create database eu owner runledger');
    await ask('runledger-db-1', 'alter role runledger superuser');
    const template = 'go-template={{.data.uri | base64decode}}';
    const uri = await run(`kubectl -n runledger get secret runledger-db-app -o '${template}'`);
    await kubernetes.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'runledger-eu-app', namespace: 'runledger' },
      stringData: { uri: uri.replace(/runledger$/, 'eu') },
    });
    const turnOn = clusterCommands('docs/prove/log.md')
      .trim()
      .replace(/oci:\S+ --version \S+/, chart);
    await run(`${turnOn} --set otherPostgresql.eu.urlSecret.name=runledger-eu-app --wait --timeout 240s`);
    const [caller, reader] = [clientOf('events', writeToken), clientOf('record', readToken)];
    const { status, headers } = await caller.register(eventBody());
    expect(status).to.equal(201);
    const path = `/v1/log/proof/${String(headers['receipt-id'])}`;
    await until('the console proves the event', async () => (await reader.send({ path })).status === 200, 240_000, 500);
    caller.close();
    reader.close();
  });

  it('moves an organization by the commands of docs/operate/move-an-organization.md', async () => {
    await run(clusterCommands('docs/operate/move-an-organization.md'));
    const stored = "select count(*) > 0 from events where organization = 'acme'";
    expect(await ask('runledger-db-1', stored, 'eu')).to.equal('t\n');
    expect(await ask('runledger-db-1', stored, 'runledger')).to.equal('f\n');
  });
});

interface PodMonitor {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly podMetricsEndpoints: readonly { readonly port: string; readonly path?: string }[];
}
interface MonitoredPod {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly containers: { ports?: { name: string; containerPort: number }[] }[] };
  readonly status: { readonly podIP: string };
}

/** The images that the chart names. */
async function imagesOfChart(): Promise<Images> {
  const read = async (file: string): Promise<unknown> => parse(await readFile(join(chart, file), 'utf8'));
  const { image, postgresql } = (await read('values.yaml')) as {
    image: { repository: string };
    postgresql: { image: { repository: string; tag: string } };
  };
  const { appVersion } = (await read('Chart.yaml')) as { appVersion: string };
  return {
    postgres: `${postgresql.image.repository}:${postgresql.image.tag}`,
    node: `${image.repository}:${appVersion}`,
  };
}

/** The Gateway that the page asks for, served by Traefik. */
function gateway({ cert, key }: KeyPair): object[] {
  const namespace = 'gateways';
  const allowedRoutes = { namespaces: { from: 'All' } };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: 'traefik' },
      spec: { controllerName: 'traefik.io/gateway-controller' },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata: { name: 'example-tls', namespace },
      stringData: { 'tls.crt': cert, 'tls.key': key },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'public', namespace },
      spec: {
        gatewayClassName: 'traefik',
        listeners: [
          {
            name: 'https',
            port: 443,
            protocol: 'HTTPS',
            tls: { certificateRefs: [{ name: 'example-tls' }] },
            allowedRoutes,
          },
          { name: 'http', port: 80, protocol: 'HTTP', allowedRoutes },
        ],
      },
    },
  ];
}
