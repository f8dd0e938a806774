import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Child } from '../child.ts';
import type { Manifest } from '../helm-manifests.ts';
import type { PodAddress } from './network.ts';
import { inside } from './pod.ts';

interface IngressSpec {
  readonly tls: { readonly hosts: string[] }[];
  readonly rules: { readonly host: string; readonly http: { readonly paths: { readonly path: string }[] } }[];
}

/**
 * Debian's nginx in front of pods, configured by an Ingress as ingress-nginx would do it, its
 * redirect included.
 */
export class IngressController {
  readonly #child: Child;
  readonly #folder: string;

  private constructor(child: Child, folder: string) {
    this.#child = child;
    this.#folder = folder;
  }

  /** Listens on the ports 80 and 443 of the node. `pods` are `address:port`. */
  static async start(
    ingress: Manifest,
    certificate: { cert: string; key: string },
    pods: string[],
    node: PodAddress,
  ): Promise<IngressController> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-nginx-'));
    await writeFile(join(folder, 'tls.crt'), certificate.cert);
    await writeFile(join(folder, 'tls.key'), certificate.key, { mode: 0o600 });
    await writeFile(join(folder, 'nginx.conf'), configuration(ingress, pods, folder));
    const child = inside(node, 'nginx', [
      '-p',
      folder,
      '-c',
      join(folder, 'nginx.conf'),
      '-e',
      join(folder, 'error.log'),
    ]);
    await child.line(/start worker process \d+/);
    return new IngressController(child, folder);
  }

  async stop(): Promise<void> {
    await this.#child.kill('SIGTERM');
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function configuration({ metadata, spec }: Manifest, pods: string[], folder: string): string {
  const { rules } = spec as IngressSpec;
  // ingress-nginx redirects with 308 wherever the Ingress has TLS, unless this annotation forbids
  // it.
  const forbidden = metadata.annotations?.['nginx.ingress.kubernetes.io/ssl-redirect'] === 'false';
  const redirect = forbidden ? '' : 'if ($scheme = http) { return 308 https://$host$request_uri; }';
  const servers = rules.map(({ host, http }) => {
    const locations = http.paths.map(
      ({ path }) => `location ${path} {
      ${redirect}
      proxy_pass http://runledger;
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header Connection '';
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-For $remote_addr;
    }`,
    );
    return `server {
    listen 80;
    listen 443 ssl;
    server_name ${host};
    ssl_certificate ${folder}/tls.crt;
    ssl_certificate_key ${folder}/tls.key;
    ${locations.join('\n')}
  }`;
  });
  return `daemon off;
user root;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr notice;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream runledger {
    ${pods.map((pod) => `server ${pod};`).join('\n    ')}
    keepalive 16;
  }
  ${servers.join('\n  ')}
}
`;
}
