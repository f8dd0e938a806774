import type { Kubernetes } from './kubernetes.ts';

/** Host and port of each target, by a name. */
export type Targets = Readonly<Record<string, readonly [host: string, port: number]>>;

/** Longest wait for a connection, in ms: a policy drops packets, and refuses nothing. */
const patienceMs = 4_000;

/**
 * Whether a pod can connect to each target, by name. One process in the pod tries all at once.
 * `pod`: what names it to kubectl.
 */
export async function connectionsFrom(
  kubernetes: Kubernetes,
  pod: readonly string[],
  targets: Targets,
): Promise<Record<string, boolean>> {
  const script = `
    const { connect } = require('node:net');
    const tried = Object.entries(${JSON.stringify(targets)}).map(([name, [host, port]]) => new Promise((resolve) => {
      const socket = connect({ host, port, timeout: ${patienceMs} });
      socket.on('connect', () => resolve([name, true]));
      for (const end of ['error', 'timeout']) socket.on(end, () => resolve([name, false]));
    }));
    Promise.all(tried).then((found) => {
      console.log(JSON.stringify(Object.fromEntries(found)));
      process.exit();
    });`;
  const output = await kubernetes.kubectl('exec', ...pod, '--', 'node', '--eval', script);
  return JSON.parse(output) as Record<string, boolean>;
}
