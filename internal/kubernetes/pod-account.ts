import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import type { ClusterAccess, ConnectToCluster } from './cluster-access.ts';

/** Idle connections end after this time, in ms, before the API server ends them. */
const idleConnectionMs = 60_000;

/** Where Kubernetes mounts the account of a pod. */
export const podAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Returns the address of the API server from the variables of a container: a host, which may be
 * IPv6, and a port.
 */
export function apiServerUrl(host: string, port: number): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Connects with the account of a pod: `ca.crt`, `namespace` and `token` in a folder. It reads the
 * token for each request, since the kubelet replaces it; the client library caches it for a minute.
 *
 * It replaces the library's KubeConfig, which loads every model of the Kubernetes API: 60 MB of
 * memory and 0.4 s at the start.
 */
export function podAccount(server: string, directory = podAccountDirectory): ConnectToCluster {
  return async (): Promise<ClusterAccess> => {
    const ca = await readFile(join(directory, 'ca.crt'), 'utf8');
    const namespace = await readFile(join(directory, 'namespace'), 'utf8');
    const options = { ca, keepAlive: true, timeout: idleConnectionMs };
    const agent = server.startsWith('https:') ? new https.Agent(options) : new http.Agent(options);
    return {
      server,
      namespace: namespace.trim(),
      async authenticate() {
        const token = await readFile(join(directory, 'token'), 'utf8');
        return { agent, headers: { Authorization: `Bearer ${token.trim()}` } };
      },
      async close() {
        agent.destroy();
      },
    };
  };
}
