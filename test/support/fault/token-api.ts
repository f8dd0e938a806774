import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toYaml } from '../../../internal/cluster/yaml.ts';
import { ScriptedApi } from '../cluster/scripted-api.ts';
import { Forwarder } from '../forwarder.ts';

/** An API server with the token Secrets, and the network to it. */
export class TokenApi {
  /** What ingest needs to read its tokens there. */
  readonly environment: Record<string, string>;
  readonly network: Forwarder;
  readonly #api: ScriptedApi;

  private constructor(api: ScriptedApi, network: Forwarder, kubeconfig: string) {
    this.#api = api;
    this.network = network;
    this.environment = { KUBECONFIG: kubeconfig, TOKENS_NAMESPACE: 'tokens' };
  }

  /** `entries`: of the organization's Secret. `folder`: for the kubeconfig. */
  static async start(folder: string, organization: string, entries: Record<string, string>): Promise<TokenApi> {
    const api = await ScriptedApi.start();
    api.putEntries(organization, organization, entries);
    const network = await Forwarder.start(Number(new URL(api.url).port));
    const kubeconfig = join(folder, 'kubeconfig.yaml');
    // The client accepts plain HTTP only with this setting.
    const server = `http://127.0.0.1:${network.port}`;
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'tokens',
      clusters: [{ name: 'tokens', cluster: { server, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'ingest', user: { token: 'account' } }],
      contexts: [{ name: 'tokens', context: { cluster: 'tokens', user: 'ingest', namespace: 'tokens' } }],
    };
    await writeFile(kubeconfig, toYaml(config));
    return new TokenApi(api, network, kubeconfig);
  }

  async stop(): Promise<void> {
    await this.network[Symbol.asyncDispose]();
    await this.#api.stop();
  }
}
