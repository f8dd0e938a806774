import { stringify } from 'yaml';
import { render } from '../helm.ts';
import type { Cluster } from './cluster.ts';
import { established } from './optional-apis.ts';

const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Applies the resource definitions of the chart, and resolves when the API server serves them. */
export async function installDefinitions({ admin }: Cluster): Promise<void> {
  for (const definition of await render(['--show-only', 'templates/crds/*.yaml'])) {
    await admin.apply(`${collection}/${definition.metadata.name}`, stringify(definition));
  }
  for (const kind of ['automations', 'channels']) await established(admin, `${kind}.runledger.dev`);
}
