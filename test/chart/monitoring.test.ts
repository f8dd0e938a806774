import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { chart, render } from '../support/helm.ts';
import { podsOf, objectOf } from '../support/helm-manifests.ts';

const on = ['--set', 'metrics.prometheusRule.enabled=true,metrics.dashboards.enabled=true'];

describe('chart, monitoring', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-chart-'));
    await cp(chart, folder, { recursive: true });
    await rm(join(folder, 'files/alerts.yaml'), { force: true });
    await rm(join(folder, 'files/dashboards'), { recursive: true, force: true });
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  it('renders no alerts and dashboards where there are none', async () => {
    const kinds = (await render(on, folder)).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(kinds.filter((kind) => /PrometheusRule|dashboard/.test(kind))).to.deep.equal([]);
  });

  it('installs alerts and dashboards unchanged, with their own templates', async () => {
    const alerts =
      'groups:\n  - name: a\n    rules:\n      - alert: A\n        expr: up == 0\n        annotations: { summary: "{{ $labels.pod }}" }\n';
    await writeFile(join(folder, 'files/alerts.yaml'), alerts);
    await mkdir(join(folder, 'files/dashboards'));
    await writeFile(join(folder, 'files/dashboards/overview.json'), '{"title":"{{pod}}"}\n');
    const manifests = await render([...on, '--set', 'metrics.prometheusRule.labels.release=prometheus'], folder);
    const rule = objectOf(manifests, 'PrometheusRule', 'runledger');
    expect(rule.metadata.labels).to.include({ release: 'prometheus' });
    expect(rule['spec']).to.have.nested.property('groups[0].rules[0].annotations.summary', '{{ $labels.pod }}');
    const dashboard = objectOf(manifests, 'ConfigMap', 'runledger-dashboard-overview');
    expect(dashboard.metadata.labels).to.include({ grafana_dashboard: '1' });
    expect(dashboard['data']).to.deep.equal({ 'overview.json': '{"title":"{{pod}}"}\n' });
  });

  it('scrapes the ops port of ingest and worker, by PodMonitor or by ServiceMonitor', async () => {
    const pods = await render(['--set', 'metrics.podMonitor.enabled=true,metrics.podMonitor.interval=15s']);
    expect(objectOf(pods, 'PodMonitor', 'runledger')['spec']).to.deep.include({
      podMetricsEndpoints: [{ port: 'ops', path: '/metrics', interval: '15s' }],
    });
    const services = await render(['--set', 'metrics.serviceMonitor.enabled=true']);
    const service = objectOf(services, 'Service', 'runledger-metrics');
    expect(service['spec']).to.deep.include({ clusterIP: 'None' });
    const monitor = objectOf(services, 'ServiceMonitor', 'runledger')['spec'] as { selector: { matchLabels: object } };
    expect(service.metadata.labels).to.include(monitor.selector.matchLabels);
    const labels = (name: string): unknown =>
      (objectOf(services, 'Deployment', name)['spec'] as { template: { metadata: { labels: object } } }).template
        .metadata.labels;
    const { selector } = service['spec'] as { selector: object };
    for (const name of ['runledger-ingest', 'runledger-worker']) expect(labels(name)).to.include(selector);
    expect(podsOf(services)).not.to.have.length(0);
  });

  it('allows only the connections that the release needs', async () => {
    const manifests = await render(['--set', 'worker.keda.enabled=true']);
    const policy = (name: string) =>
      objectOf(manifests, 'NetworkPolicy', name)['spec'] as {
        ingress: { from?: unknown[] }[];
        egress: { ports: { port: number }[] }[];
      };
    const outPorts = (name: string): number[] =>
      policy(name)
        .egress.flatMap(({ ports }) => ports.map(({ port }) => port))
        .sort((a, b) => a - b);
    expect(outPorts('runledger-ingest')).to.deep.equal([53, 53, 443, 6379, 6443]);
    expect(outPorts('runledger-worker')).to.deep.equal([53, 53, 5432, 6379]);
    expect(policy('runledger-redis').egress).to.deep.equal([]);
    expect(policy('runledger-redis').ingress[0]?.from).to.have.length(3);
    expect(policy('runledger-postgresql').ingress[0]?.from).to.have.length(1);
    expect(policy('runledger-worker').ingress).to.have.length(1);
  });

  it('allows no connection of KEDA when kedaFrom is empty', async () => {
    const manifests = await render(['--set', 'worker.keda.enabled=true', '--set-json', 'networkPolicy.kedaFrom=[]']);
    const { ingress } = objectOf(manifests, 'NetworkPolicy', 'runledger-redis')['spec'] as {
      ingress: { from: object[] }[];
    };
    expect(ingress).to.have.length(1);
    expect(ingress[0]?.from.map((peer) => Object.keys(peer))).to.deep.equal([['podSelector'], ['podSelector']]);
  });

  it('rejects a NetworkPolicy with an invalid rule', async () => {
    const broken = '(dict "root" $ "component" "redis" "name" "broken" "ingress" "- from: [" "egress" "[]")';
    await writeFile(join(folder, 'templates/broken.yaml'), `{{ include "runledger.networkPolicy" ${broken} }}`);
    const problem = await render([], folder).then(
      () => 'it was accepted',
      (error: Error) => error.message,
    );
    expect(problem).to.include('NetworkPolicy broken: invalid rule: error converting YAML');
  });

  it('allows connections to the ports of the addresses, and to the DNS of the cluster', async () => {
    const redis = 'externalRedis.url=rediss://a.example.com:6380/0\\,rediss://b.example.com:6381';
    const postgres = ['postgresql.enabled=false', 'externalPostgresql.host=pg', 'externalPostgresql.port=6432'];
    const values = ['redis.enabled=false', redis, ...postgres, 'networkPolicy.dnsPorts={53,5353}'];
    const manifests = await render(values.flatMap((value) => ['--set', value]));
    const { egress } = objectOf(manifests, 'NetworkPolicy', 'runledger-worker')['spec'] as {
      egress: { ports: { port: number }[] }[];
    };
    expect(egress.map(({ ports }) => ports.map(({ port }) => port))).to.deep.equal([
      [53, 53, 5353, 5353],
      [6379, 6380, 6381],
      [5432, 6432],
    ]);
  });
});
