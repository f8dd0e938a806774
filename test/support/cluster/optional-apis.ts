import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { KubernetesClient, NamedObject } from './kubernetes-client.ts';

/**
 * Where the projects publish the definitions of the optional APIs that the chart and the examples
 * use: inside their Go modules.
 */
const modules = {
  'sigs.k8s.io/gateway-api@v1.4.0': [
    'config/crd/standard/gateway.networking.k8s.io_gateways.yaml',
    'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml',
  ],
  'github.com/cloudnative-pg/cloudnative-pg@v1.28.1': ['config/crd/bases/postgresql.cnpg.io_clusters.yaml'],
  'github.com/kedacore/keda/v2@v2.18.0': [
    'config/crd/bases/keda.sh_scaledobjects.yaml',
    'config/crd/bases/keda.sh_triggerauthentications.yaml',
  ],
  'github.com/prometheus-operator/prometheus-operator@v0.83.0': [
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  ],
};

const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/**
 * Installs the CRDs of CloudNativePG, Gateway API, KEDA and the Prometheus Operator, and resolves
 * when the API server serves them.
 */
export async function installOptionalApis(admin: KubernetesClient): Promise<void> {
  const names: string[] = [];
  for (const [module, files] of Object.entries(modules)) {
    const folder = await download(module);
    for (const file of files) {
      const definition = parse(await readFile(join(folder, file), 'utf8')) as NamedObject;
      const { name } = definition.metadata;
      // A cluster may have its own, which refuses an older one.
      if ((await admin.call('GET', `${collection}/${name}`)).status === 404) {
        const { status } = await admin.call('POST', collection, definition);
        // Another test file was first.
        if (status !== 409 && status >= 300) await admin.must('POST', collection, definition);
      }
      names.push(name);
    }
  }
  for (const name of names) await established(admin, name);
}

/** Resolves when the API server serves the resources of a definition. */
export async function established(admin: KubernetesClient, name: string): Promise<void> {
  for (;;) {
    const { status } = await admin.must('GET', `${collection}/${name}`);
    // Null after an apply, until the API server fills it in.
    const { conditions } = (status ?? {}) as { conditions?: { type: string; status: string }[] | null };
    if (conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True')) return;
  }
}

/** The folder of a module in Go's cache. */
async function download(module: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], { cwd: '/' });
    return (JSON.parse(stdout) as { Dir: string }).Dir;
  } catch (error) {
    const { code, stdout = '' } = error as { code?: unknown; stdout?: string };
    const reason = code === 'ENOENT' ? 'Go is missing' : /"Error": "(.*)"/.exec(stdout)?.[1];
    throw new Error(`The chart tests need the Go module ${module}: ${reason ?? 'no download'}`, { cause: error });
  }
}
