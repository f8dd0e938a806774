import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startApi, type RunningApi } from '../support/api-server.ts';
import { Child } from '../support/child.ts';
import { failureOf } from '../support/failure.ts';
import { freePort } from '../support/free-port.ts';
import { repository } from '../support/helm.ts';
import { until } from '../support/until.ts';

const event = JSON.stringify({
  automation_id: crypto.randomUUID(),
  execution_id: 'one',
  event: 'START',
});

describe('compose, the proxy', () => {
  let folder: string;
  let api: RunningApi;
  let caddy: Child;
  let ports: { http: number; https: number; console: number };
  let recorded = 0;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-caddy-'));
    api = await startApi((event) => {
      recorded += 1;
      return Promise.resolve(event);
    });
    ports = { http: await freePort(), https: await freePort(), console: await freePort() };
    // Other ports, an ingest that also serves as the console, no port for its administration,
    // and nothing left behind in this machine's trust store.
    const own = `{\n\tadmin off\n\tskip_install_trust\n\thttp_port ${ports.http}\n\thttps_port ${ports.https}\n`;
    const caddyfile = await readFile(join(repository, 'deploy/compose/Caddyfile'), 'utf8');
    const file = join(folder, 'Caddyfile');
    await writeFile(file, caddyfile.replace('{\n', own).replaceAll(/(ingest|console):8080/g, `127.0.0.1:${api.port}`));
    const site = { HOST: 'localhost', CONSOLE_PORT: String(ports.console) };
    const env = { ...process.env, ...site, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    caddy = new Child('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], { env });
    await caddy.line(/serving initial configuration/);
    // It keeps a connection to ingest or console for each of its ports.
    for (const port of [ports.https, ports.console]) {
      await until('Caddy has its certificate', () => overHttps('localhost', 'localhost', port).catch(() => undefined));
    }
    await overHttp('localhost');
  });

  beforeEach(() => {
    recorded = 0;
  });

  after(async () => {
    await caddy.kill('SIGKILL');
    await api[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  const register = { method: 'POST', host: '127.0.0.1', path: '/v1/register/', agent: false };
  const headers = { token: 'x', 'content-type': 'application/json' };

  function overHttp(host: string, more: Record<string, string> = {}): Promise<IncomingMessage> {
    return answer(httpRequest({ ...register, port: ports.http, headers: { ...headers, ...more, host } }));
  }

  function overHttps(servername: string, host: string, port = ports.https): Promise<IncomingMessage> {
    const tls = { servername, rejectUnauthorized: false };
    return answer(httpsRequest({ ...register, ...tls, port, headers: { ...headers, host } }));
  }

  for (const host of ['localhost', '127.0.0.1', 'events.internal']) {
    it(`redirects plain HTTP to the public URL, to whatever host it goes: ${host}`, async () => {
      for (const more of [{}, { 'x-forwarded-proto': 'https' }]) {
        const { statusCode, headers } = await overHttp(host, more);
        expect(statusCode).to.equal(301);
        expect(headers.location).to.equal('https://runledger.example/v1/register/');
      }
      expect(recorded).to.equal(0);
    });
  }

  it('forwards HTTPS', async () => {
    expect((await overHttps('localhost', 'localhost')).statusCode).to.equal(201);
    expect(recorded).to.equal(1);
  });

  it('forwards HTTPS of the console, on a port of its own and for its host only', async () => {
    expect((await overHttps('localhost', `localhost:${ports.console}`, ports.console)).statusCode).to.equal(201);
    expect((await overHttps('localhost', 'events.internal', ports.console)).statusCode).to.equal(421);
  });

  it('rejects HTTPS for another host: a caller would take a 2xx for a receipt', async () => {
    expect((await overHttps('localhost', 'events.internal')).statusCode).to.equal(421);
    expect(String(await failureOf(overHttps('events.internal', 'events.internal')))).to.include('alert');
    expect(recorded).to.equal(0);
  });
});

async function answer(request: ReturnType<typeof httpRequest>): Promise<IncomingMessage> {
  request.end(event);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response;
}
