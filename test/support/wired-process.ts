import { mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readConfig } from '../../internal/config/read.ts';
import { createTelemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { drainDelayOf } from '../../internal/wiring/service.ts';
import { secretFilesOf, secretsFolder, type Container } from './helm-manifests.ts';
import { processes, services } from './settings-table.ts';

/** Variables that libraries read. */
const ofLibraries = /^(PG(USER|PASSWORD)(_FILE)?|PGSSLMODE|NODE_EXTRA_CA_CERTS|AWS_\w+)$/;

/** What a Secret may hold for a variable. */
function secretOf(name: string): string {
  if (name.startsWith('REDIS_URL')) return 'rediss://:p%40ss@redis.example.com:6379';
  return name.includes('DATABASE_URL') ? 'postgres://user:p%40ss@postgres.example.com/runledger' : 'p@ss/w#rd %41';
}

/** The process or the command that a container runs; undefined for that of another image. */
export function processOf({ args = [] }: Container): string | undefined {
  const [, name, command] = /(?:^| )cmd\/(\w+)\/main\.ts(?: (\S+))?/.exec(args.join(' ')) ?? [];
  return name === 'admin' ? command : name;
}

/**
 * Wires a process with the environment of its container, as the kubelet makes it. Throws what would
 * end the process.
 * @returns the variables that the process does not read.
 */
export async function wireProcess(name: string, container: Container): Promise<string[]> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'runledger-secrets-'));
  const environment: Record<string, string> = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };
  for (const { name: variable, value = '' } of container.env ?? []) {
    environment[variable] = value.replaceAll(secretsFolder, `${folder.path}/`);
    for (const file of secretFilesOf(value)) {
      mkdirSync(dirname(join(folder.path, file)), { recursive: true });
      writeFileSync(join(folder.path, file), secretOf(variable));
    }
  }
  const names = processes[name] ?? [];
  const service = services[name];
  const config = readConfig(service?.settings ?? names, environment);
  if (service?.drains === true) drainDelayOf(environment);
  await service?.wire(config, createTelemetry(name, 'silent'), environment);
  const known = new Set<string>([...names, ...names.map((setting) => `${setting}_FILE`), 'KUBERNETES_SERVICE_HOST']);
  return Object.keys(environment).filter((variable) => !known.has(variable) && !ofLibraries.test(variable));
}
