import { X509Certificate } from 'node:crypto';
import { cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { chart, render, valuesOf } from '../support/helm.ts';
import { environmentOf, objectOf, theContainer } from '../support/helm-manifests.ts';

interface Route {
  parentRefs: { name: string; sectionName: string }[];
  rules: { filters: Record<string, unknown>[]; backendRefs?: unknown[] }[];
}

describe('chart, the way in', () => {
  it('ends TLS in the pod when nothing else does', async () => {
    const manifests = await render();
    const container = theContainer(manifests, 'runledger-ingest');
    expect(environmentOf(container)).to.include({
      PORT: '8080',
      HTTPS_PORT: '8443',
      TLS_CERT_FILE: '/etc/runledger/tls/tls.crt',
      TLS_KEY_FILE: '/etc/runledger/tls/tls.key',
      TRUST_PROXY: 'false',
      PUBLIC_URL: 'https://runledger.runledger.svc',
    });
    const { ports } = objectOf(manifests, 'Service', 'runledger')['spec'] as {
      ports: { name: string; port: number }[];
    };
    expect(ports.map(({ name, port }) => [name, port])).to.deep.equal([
      ['http', 80],
      ['https', 443],
    ]);
  });

  for (const shape of ['ingress-nginx', 'traefik', 'haproxy', 'gateway']) {
    it(`believes the proxy and offers no TLS of its own behind it: ${shape}`, async () => {
      const manifests = await render(['--values', valuesOf(shape)]);
      const environment = environmentOf(theContainer(manifests, 'runledger-ingest'));
      expect(environment).to.include({ TRUST_PROXY: 'true', PUBLIC_URL: 'https://events.example.com' });
      expect(environment).not.to.have.property('HTTPS_PORT');
    });
  }

  it('turns the redirect of every controller off, so that POST gets the 301 of the pod', async () => {
    const annotations = async (shape: string) => {
      const ingress = objectOf(await render(['--values', valuesOf(shape)]), 'Ingress', 'runledger');
      return ingress.metadata.annotations;
    };
    expect(await annotations('ingress-nginx')).to.include({
      'nginx.ingress.kubernetes.io/ssl-redirect': 'false',
      'nginx.ingress.kubernetes.io/force-ssl-redirect': 'false',
      'cert-manager.io/cluster-issuer': 'letsencrypt',
    });
    expect(await annotations('traefik')).to.deep.equal({
      'traefik.ingress.kubernetes.io/router.entrypoints': 'web,websecure',
      'traefik.ingress.kubernetes.io/router.priority': '10',
    });
    expect(await annotations('haproxy')).to.deep.equal({
      'haproxy.org/ssl-redirect': 'false',
      'haproxy-ingress.github.io/ssl-redirect': 'false',
      'cert-manager.io/issuer': 'internal-ca',
    });
  });

  it("lets the user's annotations win", async () => {
    const name = 'nginx\\.ingress\\.kubernetes\\.io/ssl-redirect';
    const own = ['--set-string', `ingress.annotations.${name}=true`];
    const ingress = objectOf(await render(['--values', valuesOf('ingress-nginx'), ...own]), 'Ingress', 'runledger');
    expect(ingress.metadata.annotations).to.include({ 'nginx.ingress.kubernetes.io/ssl-redirect': 'true' });
  });

  it('routes every path of every host', async () => {
    const { rules, tls } = objectOf(await render(['--values', valuesOf('traefik')]), 'Ingress', 'runledger')[
      'spec'
    ] as {
      rules: { host: string; http: { paths: unknown } }[];
      tls: unknown;
    };
    const backend = { service: { name: 'runledger', port: { number: 80 } } };
    expect(rules.map(({ host }) => host)).to.deep.equal(['events.example.com', 'events.example.org']);
    for (const { http } of rules) expect(http.paths).to.deep.equal([{ path: '/', pathType: 'Prefix', backend }]);
    expect(tls).to.deep.equal([
      { secretName: 'events-example-com', hosts: ['events.example.com', 'events.example.org'] },
    ]);
  });

  it('pins the two routes of a gateway to its two listeners', async () => {
    const manifests = await render(['--values', valuesOf('gateway')]);
    const route = objectOf(manifests, 'HTTPRoute', 'runledger')['spec'] as Route;
    expect(route.parentRefs).to.deep.equal([{ name: 'runledger', sectionName: 'https' }]);
    expect(route.rules[0]?.backendRefs).to.deep.equal([{ name: 'runledger', port: 80 }]);
    const redirect = objectOf(manifests, 'HTTPRoute', 'runledger-redirect')['spec'] as Route;
    expect(redirect.parentRefs).to.deep.equal([{ name: 'runledger', sectionName: 'http' }]);
    expect(redirect.rules.map(({ filters }) => filters.map(({ type }) => type))).to.deep.equal([['RequestRedirect']]);
  });

  it('lets the gateway redirect to the public URL, whatever Host the caller sends', async () => {
    const redirect = async (...args: string[]) => {
      const manifests = await render(['--values', valuesOf('gateway'), ...args]);
      const { rules } = objectOf(manifests, 'HTTPRoute', 'runledger-redirect')['spec'] as Route;
      return rules[0]?.filters[0]?.['requestRedirect'];
    };
    const to = (hostname: string, port: number) => ({ scheme: 'https', statusCode: 301, hostname, port });
    expect(await redirect()).to.deep.equal(to('events.example.com', 443));
    expect(await redirect('--set', 'publicUrl=https://in.example.com/')).to.deep.equal(to('in.example.com', 443));
    expect(await redirect('--set', 'publicUrl=https://In.Example.com:8443')).to.deep.equal(to('in.example.com', 8443));
  });

  it('does not trust a proxy that connects to the pod over HTTPS', async () => {
    const own = ['ingest.trustProxy=never', 'ingest.tls.mode=always', 'service.existingName=own', 'service.port=443'];
    const values = ['--values', valuesOf('ingress-nginx'), ...own.flatMap((value) => ['--set', value])];
    const environment = environmentOf(theContainer(await render(values), 'runledger-ingest'));
    expect(environment).to.include({ TRUST_PROXY: 'false', HTTPS_PORT: '8443' });
  });

  it('attaches to an existing Gateway, with and without plain HTTP', async () => {
    const own = ['gateway.create.enabled=false', 'gateway.parentRef.name=public', 'gateway.parentRef.namespace=infra'];
    const values = ['--values', valuesOf('gateway'), ...own.flatMap((value) => ['--set', value])];
    const manifests = await render([...values, '--set', 'gateway.httpSectionName=']);
    const route = objectOf(manifests, 'HTTPRoute', 'runledger')['spec'] as Route;
    expect(route.parentRefs).to.deep.equal([{ name: 'public', namespace: 'infra', sectionName: 'https' }]);
    expect(manifests.filter(({ kind }) => kind === 'Gateway' || kind === 'HTTPRoute')).to.have.length(1);
  });

  it('creates a certificate for the names of the Service', async () => {
    const { data } = objectOf(await render(), 'Secret', 'runledger-ingest-tls') as unknown as {
      data: Record<string, string>;
    };
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

  it('warns of redirects that lead to a name which only the cluster knows', async () => {
    const warning = /redirected to https:\/\/runledger\.runledger\.svc, which only this cluster knows/;
    expect(await notes('default')).not.to.match(warning);
    expect(await notes('default', '--set', 'service.type=LoadBalancer')).to.match(warning);
    const named = ['--set', 'service.type=LoadBalancer,publicUrl=https://events.example.com'];
    const said = await notes('default', ...named);
    expect(said).not.to.match(warning);
    expect(said, 'self-signed').to.match(/curl -w '\\n' -k .+ https:\/\/events\.example\.com\/v1\/register\//);
  });

  it('labels the first token for the selector', async () => {
    const selector = 'tokens.labelSelector=example.com/org\\,stage=prod';
    expect(await notes('default', '--set', selector)).to.match(
      /kubectl -n runledger label secret acme example\.com\/org=acme stage=prod\n/,
    );
  });

  it('tests itself through the Service as a proxy would, or straight over TLS', async () => {
    const environment = async (args: string[]) => {
      return environmentOf(theContainer(await render(args), 'runledger-test'));
    };
    expect(await environment([])).to.include({
      HTTP_URL: 'http://runledger.runledger.svc:80',
      HTTPS_URL: 'https://runledger.runledger.svc:443',
      TOKEN: 'runledger-test/token',
    });
    const proxied = ['--values', valuesOf('traefik')];
    expect(await environment(proxied)).to.include({
      HTTPS_URL: 'http://runledger.runledger.svc:80',
      FORWARDED_PROTO: 'https',
    });
    expect(await environment([...proxied, '--set', 'test.viaPublicUrl=true'])).to.include({
      HTTP_URL: 'http://events.example.com',
      HTTPS_URL: 'https://events.example.com',
    });
    const withPort = ['--set', 'test.viaPublicUrl=true,publicUrl=https://events.example.com:8443'];
    const tlsOnly = ['--values', valuesOf('gateway'), '--set', 'test.viaPublicUrl=true,gateway.httpSectionName='];
    for (const args of [withPort, tlsOnly]) {
      expect(await environment(args), 'plain HTTP has no known address').not.to.have.property('HTTP_URL');
      expect(await environment(args)).to.have.property('HTTPS_URL');
    }
  });
});

/**
 * What helm prints after an installation of a shape; printing it takes a cluster, so it is rendered
 * as an object here.
 */
async function notes(shape: string, ...args: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'runledger-chart-'));
  try {
    await cp(chart, folder, { recursive: true });
    await rename(join(folder, 'templates/NOTES.txt'), join(folder, 'NOTES.txt'));
    const object = 'apiVersion: v1\nkind: Notes\nmetadata: { name: notes }\n';
    await writeFile(
      join(folder, 'templates/notes.yaml'),
      `${object}text: {{ tpl (.Files.Get "NOTES.txt") . | toJson }}\n`,
    );
    return String(objectOf(await render(['--values', valuesOf(shape), ...args], folder), 'Notes', 'notes')['text']);
  } finally {
    await rm(folder, { recursive: true });
  }
}
