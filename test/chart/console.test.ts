import { expect } from 'chai';
import { render, renderWith } from '../support/helm.ts';
import { environment, objectOf, specOf, theContainer, thePod } from '../support/helm-manifests.ts';

/** Values, and the environment of the console that they give. */
const environments: [what: string, values: string[], expected: Record<string, string>][] = [
  [
    'the Postgres of the workers, and TLS in the pod',
    [],
    {
      PGPASSWORD: 'runledger-postgresql/password',
      DATABASE_URL: 'postgres://runledger@runledger-postgresql:5432/runledger',
      CONSOLE_PUBLIC_URL: 'https://runledger-console.runledger.svc',
      HTTPS_PORT: '8443',
      TRUST_PROXY: 'false',
    },
  ],
  [
    'a replica, with a user of its own',
    ['external-services'],
    {
      CONSOLE_DATABASE_URL: 'postgres://runledger-db-ro:5432/runledger',
      PGUSER: 'runledger-reader/username',
      PGPASSWORD: 'runledger-reader/password',
      PGSSLMODE: 'verify-full',
      TOKENS_NAMESPACE: 'runledger-tokens',
      DATABASE_URL: 'runledger-db-app/uri',
      OIDC_ISSUER: 'https://login.example.com:8443/realms/main',
      OIDC_CLIENT_ID: 'runledger',
      OIDC_CLIENT_SECRET: 'runledger-oidc/client-secret',
      OIDC_SCOPES: 'openid profile email',
      OIDC_GROUPS_CLAIM: 'realm_access.roles',
      OIDC_ORGANIZATIONS: '{"audit":["acme","globex"],"billing":"acme","platform":"*"}',
      SESSION_IDLE_MINUTES: '120',
      SESSION_HOURS: '12',
    },
  ],
  [
    'people behind a proxy that logs them in',
    [
      'console.oidc.issuer=https://login.example.com',
      'console.oidc.proxyAudience=oauth2-proxy',
      'console.oidc.organizations.billing=acme',
    ],
    { OIDC_PROXY_AUDIENCE: 'oauth2-proxy', OIDC_ORGANIZATIONS: '{"billing":"acme"}' },
  ],
  [
    'a replica whose URL an operator writes',
    ['console.database.urlSecret.name=replica', 'console.database.urlSecret.key=ro'],
    { CONSOLE_DATABASE_URL: 'replica/ro' },
  ],
  [
    'the host of an ingress, which ends TLS',
    ['ingress-nginx'],
    { CONSOLE_PUBLIC_URL: 'https://record.example.com', TRUST_PROXY: 'true' },
  ],
  [
    'the host of a gateway, which ends TLS',
    ['gateway'],
    { CONSOLE_PUBLIC_URL: 'https://record.example.com', TRUST_PROXY: 'true' },
  ],
];

/** Values, and the Gateway and listener to which the route of the console attaches. */
const listeners: [what: string, values: string[], parent: { name: string; sectionName: string }][] = [
  [
    'a listener of its own in the Gateway that the chart creates',
    [],
    { name: 'runledger', sectionName: 'https-console' },
  ],
  [
    'the Gateway of ingest, when the user names it',
    ['gateway.create.enabled=false', 'gateway.parentRef.name=public'],
    { name: 'public', sectionName: 'https' },
  ],
  [
    'a Gateway of its own',
    ['console.gateway.parentRef.name=internal', 'console.gateway.httpsSectionName=tls'],
    { name: 'internal', sectionName: 'tls' },
  ],
];

describe('chart, console', () => {
  for (const [what, values, expected] of environments) {
    it(`has ${what}`, async () => {
      const found = environment(await renderWith(...values), 'runledger-console');
      expect(found).to.include(expected);
      expect(found).not.to.have.any.keys('REDIS_URL', 'REDIS_PASSWORD');
      if ('CONSOLE_DATABASE_URL' in expected && !('DATABASE_URL' in expected))
        expect(found).not.to.have.property('DATABASE_URL');
    });
  }

  for (const [what, values, parent] of listeners) {
    it(`attaches its routes to ${what}`, async () => {
      const manifests = await renderWith('gateway', ...values);
      const route = specOf(manifests, 'HTTPRoute', 'runledger-console');
      expect(route).to.deep.include({ parentRefs: [parent], hostnames: ['record.example.com'] });
      expect(specOf(manifests, 'HTTPRoute', 'runledger-console-redirect')).to.containSubset({
        parentRefs: [{ name: parent.name, sectionName: 'http' }],
        rules: [{ filters: [{ requestRedirect: { hostname: 'record.example.com', statusCode: 301 } }] }],
      });
      const gateways = manifests.filter(({ kind }) => kind === 'Gateway');
      const own = gateways.flatMap(({ spec }) => (spec as { listeners: { name: string }[] }).listeners);
      expect(own.some(({ name }) => name === 'https-console')).to.equal(parent.name === 'runledger');
    });
  }

  it('has a host of its own, which leads to its own Service', async () => {
    const manifests = await renderWith('ingress-nginx');
    const backend = { service: { name: 'runledger-console', port: { number: 80 } } };
    expect(objectOf(manifests, 'Ingress', 'runledger-console')).to.containSubset({
      metadata: { annotations: { 'nginx.ingress.kubernetes.io/ssl-redirect': 'false' } },
      spec: { rules: [{ host: 'record.example.com', http: { paths: [{ backend }] } }] },
    });
    expect(specOf(manifests, 'Service', 'runledger-console')).to.containSubset({
      selector: { 'app.kubernetes.io/component': 'console' },
    });
  });

  it('takes connections of its proxy only, and connects to the port of its replica', async () => {
    const manifests = await renderWith('ingress-nginx', 'console.database.host=replica', 'console.database.port=5433');
    const proxy = { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } };
    expect(specOf(manifests, 'NetworkPolicy', 'runledger-console')).to.containSubset({
      ingress: [{ ports: [{ port: 'http' }], from: [{ namespaceSelector: proxy }] }],
      egress: [{ ports: [{ port: 5432 }, { port: 5433 }] }],
    });
  });

  it('connects to the port of its OpenID Connect provider, if it has one', async () => {
    const ports = async (...values: string[]): Promise<string> =>
      JSON.stringify(specOf(await renderWith(...values), 'NetworkPolicy', 'runledger-console'));
    const oidc = '{"ports":[{"port":443,"protocol":"TCP"},{"port":8443,"protocol":"TCP"}]}';
    expect(await ports('external-services')).to.include(oidc);
    expect(await ports()).to.not.include('8443');
  });

  it('reads the tokens with an account of its own', async () => {
    expect(thePod(await render(), 'runledger-console')).to.include({
      serviceAccountName: 'runledger-console',
      automountServiceAccountToken: true,
    });
  });

  it('lets helm test read what it posted, with a read token', async () => {
    expect(environment(await render(), 'runledger-test')).to.include({
      CONSOLE_URL: 'https://runledger-console.runledger.svc:443',
      READ_TOKEN: 'runledger-test/read-token',
    });
    expect(environment(await renderWith('ingress-nginx'), 'runledger-test')).to.include({
      CONSOLE_URL: 'http://runledger-console.runledger.svc:80',
      CONSOLE_FORWARDED_PROTO: 'https',
    });
  });

  it('leaves nothing when it is disabled', async () => {
    const manifests = await render(['--set', 'console.enabled=false']);
    expect(JSON.stringify(manifests)).not.to.match(/component":"console|runledger-console|read-token|CONSOLE_URL":/);
  });

  it('runs by its command', async () => {
    expect(theContainer(await render(), 'runledger-console').args).to.deep.equal(['cmd/console/main.ts']);
  });
});
