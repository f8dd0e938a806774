import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findHelm } from './helm-binaries.ts';
import { parseManifests, type Manifest } from './helm-manifests.ts';

export const repository = join(import.meta.dirname, '../..');
export const chart = join(repository, 'charts/runledger');

/** The optional APIs that the chart can use. */
export const optionalApis = [
  'gateway.networking.k8s.io/v1/Gateway',
  'gateway.networking.k8s.io/v1/HTTPRoute',
  'keda.sh/v1alpha1/ScaledObject',
  'monitoring.coreos.com/v1/PodMonitor',
  'monitoring.coreos.com/v1/PrometheusRule',
  'monitoring.coreos.com/v1/ServiceMonitor',
];

let path: Promise<string> | undefined;

/** Runs helm and resolves with stdout. Rejects with the text on stderr. */
export async function helm(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<string> {
  path ??= findHelm();
  try {
    const options = { env: { ...process.env, ...environment }, maxBuffer: 32 * 1024 * 1024 };
    const { stdout } = await promisify(execFile)(await path, [...args], options);
    return stdout;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    throw new Error(stderr === undefined || stderr === '' ? message : stderr, { cause: error });
  }
}

/** Names of the shapes in `ci/`, such as `default`. */
export async function shapes(): Promise<string[]> {
  const files = await readdir(join(chart, 'ci'));
  return files.map((file) => file.replace('-values.yaml', '')).sort();
}

/** The shape of the worked example for production. */
export const productionExample = 'production-example';

/** The values file of a shape. */
export function valuesOf(shape: string): string {
  if (shape === productionExample) return join(repository, 'deploy/examples/production-values.yaml');
  return join(chart, 'ci', `${shape}-values.yaml`);
}

/** The newest Kubernetes that the chart supports. */
export const kubeVersion = '1.37.0';

/**
 * The output of `helm template` for a release `runledger` in the namespace `runledger`, with all
 * optional APIs installed. `from` is a folder with the chart.
 */
export function template(args: readonly string[] = [], from = chart): Promise<string> {
  const apis = optionalApis.flatMap((api) => ['--api-versions', api]);
  const cluster = args.includes('--kube-version') ? apis : [...apis, '--kube-version', kubeVersion];
  return helm(['template', 'runledger', from, '--namespace', 'runledger', ...cluster, ...args]);
}

/** The objects that a chart renders with these arguments. */
export async function render(args: readonly string[] = [], from = chart): Promise<Manifest[]> {
  return parseManifests(await template(args, from));
}

/** The arguments that set values, each given as `path=value`; one without `=` names a shape. */
export function withValues(...values: string[]): string[] {
  return values.flatMap((value) => (value.includes('=') ? ['--set', value] : ['--values', valuesOf(value)]));
}

/** The objects that the chart renders with these values. */
export function renderWith(...values: string[]): Promise<Manifest[]> {
  return render(withValues(...values));
}
