import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { failureOf } from '../support/failure.ts';
import { chart, render, renderWith, withValues } from '../support/helm.ts';
import { objectOf, specOf, type Manifest } from '../support/helm-manifests.ts';

interface Policy {
  ingress: { from?: object[] }[];
  egress: { ports: { port: number }[] }[];
}

const policy = (manifests: Manifest[], name: string) => specOf<Policy>(manifests, 'NetworkPolicy', `runledger-${name}`);
const outPorts = (manifests: Manifest[], name: string): number[][] =>
  policy(manifests, name).egress.map(({ ports }) => ports.map(({ port }) => port));

describe('chart, monitoring', () => {
  const on = withValues('metrics.prometheusRule.enabled=true', 'metrics.dashboards.enabled=true');
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-chart-'));
    await cp(chart, folder, { recursive: true });
    await rm(join(folder, 'files/alerts.yaml'), { force: true });
    await rm(join(folder, 'files/dashboards'), { recursive: true, force: true });
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('renders no alerts and dashboards where there are none', async () => {
    const kinds = (await render(on, folder)).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(kinds.filter((kind) => /PrometheusRule|dashboard/.test(kind))).to.deep.equal([]);
  });

  it('installs alerts and dashboards unchanged, with their own templates', async () => {
    const rule = { alert: 'A', expr: 'up == 0', annotations: { summary: '{{ $labels.pod }}' } };
    const groups = [{ name: 'a', rules: [rule] }];
    await writeFile(join(folder, 'files/alerts.yaml'), JSON.stringify({ groups }));
    await mkdir(join(folder, 'files/dashboards'));
    await writeFile(join(folder, 'files/dashboards/overview.json'), '{"title":"{{pod}}"}\n');
    const manifests = await render([...on, '--set', 'metrics.prometheusRule.labels.release=prometheus'], folder);
    const rules = objectOf(manifests, 'PrometheusRule', 'runledger');
    expect(rules).to.containSubset({ metadata: { labels: { release: 'prometheus' } }, spec: { groups } });
    expect(objectOf(manifests, 'ConfigMap', 'runledger-dashboard-overview')).to.containSubset({
      metadata: { labels: { grafana_dashboard: '1' } },
      data: { 'overview.json': '{"title":"{{pod}}"}\n' },
    });
  });

  it('scrapes the ops port of every process, by PodMonitor or by ServiceMonitor', async () => {
    const pods = await renderWith('metrics.podMonitor.enabled=true', 'metrics.podMonitor.interval=15s');
    expect(specOf(pods, 'PodMonitor', 'runledger')).to.deep.include({
      podMetricsEndpoints: [{ port: 'ops', path: '/metrics', interval: '15s' }],
    });
    const services = await renderWith('metrics.serviceMonitor.enabled=true');
    const service = objectOf(services, 'Service', 'runledger-metrics');
    const { clusterIP, selector } = service['spec'] as { clusterIP: string; selector: object };
    expect(clusterIP).to.equal('None');
    const monitor = specOf<{ selector: { matchLabels: object } }>(services, 'ServiceMonitor', 'runledger');
    expect(service.metadata.labels).to.include(monitor.selector.matchLabels);
    for (const name of ['runledger-ingest', 'runledger-worker', 'runledger-console']) {
      expect(specOf(services, 'Deployment', name)).to.containSubset({ template: { metadata: { labels: selector } } });
    }
  });

  it('allows only the connections that the release needs', async () => {
    const manifests = await renderWith('worker.keda.enabled=true');
    const sorted = (name: string) =>
      outPorts(manifests, name)
        .flat()
        .sort((a, b) => a - b);
    expect(sorted('ingest')).to.deep.equal([53, 53, 443, 6379, 6443]);
    expect(sorted('console')).to.deep.equal([53, 53, 443, 5432, 6443]);
    expect(sorted('worker')).to.deep.equal([53, 53, 5432, 6379]);
    // To the API server, and to channels.
    expect(sorted('controller')).to.deep.equal([53, 53, 443, 443, 5432, 6379, 6443]);
    expect(policy(manifests, 'controller').ingress).to.have.length(1);
    expect(policy(manifests, 'redis').egress).to.deep.equal([]);
    expect(policy(manifests, 'redis').ingress[0]?.from).to.have.length(4);
    expect(policy(manifests, 'postgresql').ingress[0]?.from).to.have.length(3);
    expect(policy(manifests, 'worker').ingress).to.have.length(1);
  });

  it('allows no connection of KEDA when kedaFrom is empty', async () => {
    const none = ['--set-json', 'networkPolicy.kedaFrom=[]'];
    const { ingress } = policy(await render([...withValues('worker.keda.enabled=true'), ...none]), 'redis');
    expect(ingress).to.have.length(1);
    expect(ingress[0]?.from?.map((peer) => Object.keys(peer))).to.deep.equal([
      ['podSelector'],
      ['podSelector'],
      ['podSelector'],
    ]);
  });

  it('rejects a NetworkPolicy with an invalid rule', async () => {
    const broken = '(dict "root" $ "component" "redis" "name" "broken" "ingress" "- from: [" "egress" "[]")';
    await writeFile(join(folder, 'templates/broken.yaml'), `{{ include "runledger.networkPolicy" ${broken} }}`);
    expect(String(await failureOf(render([], folder)))).to.include(
      'NetworkPolicy broken: invalid rule: error converting YAML',
    );
  });

  it('allows connections to the ports of the addresses, and to the DNS of the cluster', async () => {
    const redis = 'externalRedis.url=rediss://a.example.com:6380/0\\,rediss://b.example.com:6381 redis://c:6382';
    const postgres = ['postgresql.enabled=false', 'externalPostgresql.host=pg', 'externalPostgresql.port=6432'];
    const manifests = await renderWith('redis.enabled=false', redis, ...postgres, 'networkPolicy.dnsPorts={53,5353}');
    expect(outPorts(manifests, 'worker')).to.deep.equal([
      [53, 53, 5353, 5353],
      [6379, 6380, 6381, 6382],
      [5432, 6432],
    ]);
  });
});
