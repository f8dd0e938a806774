import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parseSecrets } from '../../internal/cluster/tokens/manifest-file.ts';
import { digestOf } from '../../internal/cluster/tokens/token-entry.ts';
import { tokenSetOf } from '../../internal/cluster/tokens/token-set.ts';
import { chart, render, renderWith, withValues } from '../support/helm.ts';
import { environment, objectOf, specOf } from '../support/helm-manifests.ts';

interface Route {
  parentRefs: object[];
  rules: { filters: Record<string, unknown>[]; backendRefs?: unknown[] }[];
}

describe('chart, the way in', () => {
  it("lets the user's annotations win", async () => {
    const own = ['--set-string', 'ingress.annotations.nginx\\.ingress\\.kubernetes\\.io/ssl-redirect=true'];
    const ingress = objectOf(await render([...withValues('ingress-nginx'), ...own]), 'Ingress', 'runledger');
    expect(ingress.metadata.annotations).to.include({
      'nginx.ingress.kubernetes.io/ssl-redirect': 'true',
    });
  });

  for (const [values, hostname, port] of [
    [[], 'events.example.com', 443],
    [['publicUrl=https://in.example.com/'], 'in.example.com', 443],
    [['publicUrl=https://In.Example.com:8443'], 'in.example.com', 8443],
  ] as const) {
    it(`lets the gateway redirect to ${hostname}:${port}, whatever Host the caller sends`, async () => {
      const manifests = await renderWith('gateway', ...values);
      const { rules } = specOf<Route>(manifests, 'HTTPRoute', 'runledger-redirect');
      const requestRedirect = { scheme: 'https', statusCode: 301, hostname, port };
      expect(rules[0]?.filters[0]?.['requestRedirect']).to.deep.equal(requestRedirect);
    });
  }

  it('does not trust a proxy that connects to the pod over HTTPS', async () => {
    const own = ['ingest.trustProxy=never', 'ingest.tls.mode=always', 'service.existingName=own', 'service.port=443'];
    const variables = environment(await renderWith('ingress-nginx', ...own), 'runledger-ingest');
    expect(variables).to.include({ TRUST_PROXY: 'false', HTTPS_PORT: '8443' });
  });

  it('attaches to an existing Gateway, with and without plain HTTP', async () => {
    const own = ['gateway.create.enabled=false', 'gateway.parentRef.name=public', 'gateway.parentRef.namespace=infra'];
    const manifests = await renderWith('gateway', ...own, 'gateway.httpSectionName=');
    const parentRefs = [{ name: 'public', namespace: 'infra', sectionName: 'https' }];
    expect(specOf(manifests, 'HTTPRoute', 'runledger')).to.deep.include({ parentRefs });
    const routes = manifests.filter(({ kind }) => kind === 'Gateway' || kind === 'HTTPRoute');
    expect(routes.map(({ metadata }) => metadata.name)).to.have.members(['runledger', 'runledger-console']);
  });

  it('creates a certificate for the names of the Service', async () => {
    const data = objectOf(await renderWith(), 'Secret', 'runledger-ingest-tls')['data'] as Record<string, string>;
    const certificate = new X509Certificate(Buffer.from(data['tls.crt'] ?? '', 'base64'));
    for (const host of ['runledger', 'runledger.runledger', 'runledger.runledger.svc', 'localhost']) {
      expect(certificate.checkHost(host), host).to.equal(host);
    }
  });

  it('warns of cluster-wide settings that prevent the redirect', async () => {
    expect(await notes('traefik')).to.match(/redirects at its `web` entry point for the\s+whole cluster/);
    expect(await notes('ingress-nginx')).to.match(/retired in March 2026/);
    expect(await notes('haproxy')).to.match(/`redirect` in the controller's global configuration/);
    expect(await notes('ha')).to.match(/switch its own HTTPS redirect off/);
  });

  it('lists the changes to make before production, and nothing afterwards', async () => {
    const first = await notes('default');
    expect(first).to.match(/self-signed.+may read every Secret.+bundled Redis.+bundled Postgres/s);
    expect(first).to.include('kubectl -n runledger port-forward service/runledger 8443:443');
    expect(await notes('ha')).not.to.include('Before production');
  });

  it('warns where nobody told the addresses of the API server', async () => {
    const warning = /any address on its ports\. Set networkPolicy\.apiServerTo/;
    expect(await notes('default')).to.match(warning);
    for (const value of ['networkPolicy.apiServerTo[0].ipBlock.cidr=10.0.0.1/32', 'networkPolicy.enabled=false']) {
      expect(await notes(value), value).not.to.match(warning);
    }
  });

  it('warns of redirects that lead to a name which only the cluster knows', async () => {
    const warning = /redirected to https:\/\/runledger\.runledger\.svc, which only this cluster knows/;
    expect(await notes('default')).not.to.match(warning);
    expect(await notes('service.type=LoadBalancer')).to.match(warning);
    const named = await notes('service.type=LoadBalancer', 'publicUrl=https://events.example.com');
    expect(named).not.to.match(warning);
    expect(named, 'self-signed').to.match(/curl -w '\\n' -k .+ https:\/\/events\.example\.com\/v1\/register\//);
  });

  it('says how to read the first execution, with and without a host of the console', async () => {
    const inCluster = await notes('demo.enabled=true');
    expect(inCluster).to.include('-n runledger port-forward service/runledger-console 8444:443');
    expect(inCluster).to.include(
      `curl -w '\\n' --retry 9 --retry-connrefused -k -H "token: $READ_TOKEN" 'https://localhost:8444/v1/executions/?limit=1'`,
    );
    expect(await notes('ingress-nginx')).to.include(`'https://record.example.com/v1/executions/?limit=1'`);
    expect(await notes('haproxy')).not.to.include('/v1/executions/');
  });

  it('says what replicas of Redis mean for a 201, and which Secrets it needs where', async () => {
    expect(await notes('external-services')).to.match(
      /These Secrets must be in the namespace runledger, and pods wait for them:\n/,
    );
    const acks = await notes('redis.enabled=false', 'externalRedis.host=redis', 'config.redisAcks=2');
    expect(acks).to.match(/until config\.redisAcks=2 of the replicas of Redis have the event\..*run 3\./s);
    const named = ['postgresql.enabled=false', 'externalPostgresql.host=db', 'externalPostgresql.sslMode=require'];
    expect(await notes(...named))
      .to.match(/the database runledger .* at db\./)
      .and.match(/belongs into caBundle/);
  });

  it('makes the first tokens in a pod that is there, with the labels of the selector', async () => {
    const said = await notes('tokens.labelSelector=example.com/org\\,stage=prod', 'tokens.namespace=tokens');
    const block = /^ {3}admin\(\) [^]*?(?=\n\n)/m.exec(said)?.[0] ?? '';
    // kubectl, which runs the command here and shows what it would create.
    const inPod = '-n runledger exec -i deployment/runledger-worker -- runledger-admin';
    const kubectl = `kubectl() { case "$*" in
      '${inPod} '*) shift 7; node cmd/admin/main.ts "$@" ;;
      '-n tokens create -f -') cat; echo --- ;;
      *) echo "kubectl $*" >&2; exit 1 ;;
    esac; }`;
    const { stdout } = await promisify(execFile)('bash', ['-ec', `${kubectl}\n${block}\necho "# $TOKEN $READ_TOKEN"`]);
    const secrets = parseSecrets(stdout, 'kubectl');
    expect(secrets.map(({ metadata }) => metadata)).to.deep.equal([
      { name: 'runledger-acme', labels: { 'example.com/org': 'acme', stage: 'prod' } },
      { name: 'runledger-acme.read', labels: { 'example.com/org': 'acme', stage: 'prod' } },
    ]);
    const set = tokenSetOf(secrets, 'example.com/org');
    const [, ...tokens] = /^# (\S+) (\S+)$/m.exec(stdout) ?? [];
    const scopes = tokens.map((token) => set.tokens.get(digestOf(token))?.scope);
    expect(scopes).to.deep.equal(['write', 'read']);
  });

  for (const [values, variables, plain] of [
    [
      [],
      { HTTPS_URL: 'https://runledger.runledger.svc:443', TOKEN: 'runledger-test/token' },
      'http://runledger.runledger.svc:80',
    ],
    [
      ['traefik'],
      { HTTPS_URL: 'http://runledger.runledger.svc:80', FORWARDED_PROTO: 'https' },
      'http://runledger.runledger.svc:80',
    ],
    [['traefik', 'test.viaPublicUrl=true'], { HTTPS_URL: 'https://events.example.com' }, 'http://events.example.com'],
    // Plain HTTP has no known address.
    [
      ['traefik', 'test.viaPublicUrl=true', 'publicUrl=https://events.example.com:8443'],
      { HTTPS_URL: 'https://events.example.com:8443' },
      undefined,
    ],
    [
      ['gateway', 'test.viaPublicUrl=true', 'gateway.httpSectionName='],
      { HTTPS_URL: 'https://events.example.com' },
      undefined,
    ],
  ] as const) {
    it(`tests itself through ${variables.HTTPS_URL} with ${values.join(' ') || 'the defaults'}`, async () => {
      const given = environment(await renderWith(...values), 'runledger-test');
      expect(given).to.include(variables);
      expect(given['HTTP_URL']).to.equal(plain);
    });
  }
});

/**
 * What helm prints after an installation with these values; printing it takes a cluster, so it is
 * rendered as an object here.
 */
async function notes(...values: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'runledger-chart-'));
  try {
    await cp(chart, folder, { recursive: true });
    await rename(join(folder, 'templates/NOTES.txt'), join(folder, 'NOTES.txt'));
    const object = 'apiVersion: v1\nkind: Notes\nmetadata: { name: notes }\n';
    const text = 'text: {{ tpl (.Files.Get "NOTES.txt") . | toJson }}\n';
    await writeFile(join(folder, 'templates/notes.yaml'), object + text);
    return String(objectOf(await render(withValues(...values), folder), 'Notes', 'notes')['text']);
  } finally {
    await rm(folder, { recursive: true });
  }
}
