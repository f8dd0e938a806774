import { randomBytes } from 'node:crypto';
import {
  ClusterDeclarationSource,
  type ClusterSourceTimes,
} from '../../../internal/controller/declarations/cluster-source.ts';
import { podAccount } from '../../../internal/cluster/pod-account.ts';
import type { Database } from '../../../internal/store/database.ts';
import { automationMetrics } from '../../../internal/controller/declarations/automation-metrics.ts';
import { createRegistry } from '../../../internal/kit/telemetry/metrics.ts';
import { renderWith } from '../helm.ts';
import { recordingLogger } from '../recording-logger.ts';
import { sharedCluster } from './shared-cluster.ts';

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

export interface KubernetesEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

export interface Conditioned {
  readonly metadata: { readonly managedFields: { readonly subresource?: string; readonly time: string }[] };
  readonly status?: {
    readonly observedGeneration: number;
    readonly lastExecution?: { executionId: string; state: string; startedAt: string };
    readonly conditions: {
      type: string;
      status: string;
      reason: string;
      message: string;
      lastTransitionTime: string;
    }[];
  };
}

/** The rules of the ClusterRole that the chart gives the controller, with these values. */
export async function rulesOfController(...values: readonly string[]): Promise<Rule[]> {
  const role = (await renderWith(...values)).find(({ kind }) => kind === 'ClusterRole');
  return (role as unknown as { rules: Rule[] }).rules;
}

/** A controller's account with some rights, and namespaces for its resources. */
export class DeclaredCluster {
  readonly #id = randomBytes(4).toString('hex');
  /** Of the ClusterRole of the account. */
  rules: readonly Rule[];
  /** The namespaces that the source follows; empty: all. */
  namespaces: readonly string[] = [];
  readonly logs = recordingLogger();
  readonly registry = createRegistry('test');
  source: ClusterDeclarationSource | undefined;
  #account: Promise<string> | undefined;

  constructor(rules: readonly Rule[]) {
    this.rules = rules;
  }

  /** The name of a namespace that only this test has. */
  namespace(name: string): string {
    return `${name}-${this.#id}`;
  }

  async createNamespace(name: string, organization: string | undefined): Promise<string> {
    const labels = organization === undefined ? {} : { 'runledger.dev/organization': organization };
    const metadata = { name: this.namespace(name), labels };
    await sharedCluster().admin.must('POST', '/api/v1/namespaces', { metadata });
    return metadata.name;
  }

  /** Makes an account that has the rights. Resolves with the folder that a pod finds it in. */
  account(): Promise<string> {
    this.#account ??= this.#createAccount();
    return this.#account;
  }

  async #createAccount(): Promise<string> {
    const { admin } = sharedCluster();
    const release = await this.createNamespace('release', undefined);
    const account = 'runledger-controller';
    await admin.must('POST', `/api/v1/namespaces/${release}/serviceaccounts`, { metadata: { name: account } });
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const metadata = { name: `${release}.${account}` };
    await admin.must('POST', `${rbac}/clusterroles`, { metadata, rules: this.rules });
    await admin.must('POST', `${rbac}/clusterrolebindings`, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: release }],
    });
    return sharedCluster().podAccountFolder(release, account);
  }

  /** Starts a source with the account. */
  async start(db: Database, times: Partial<ClusterSourceTimes> = {}): Promise<ClusterDeclarationSource> {
    const connect = podAccount(sharedCluster().url, await this.account());
    const metrics = automationMetrics(this.registry);
    const backoff = { firstMs: 50, longestMs: 200 };
    this.source = new ClusterDeclarationSource({
      connect,
      namespaces: this.namespaces,
      db,
      logger: this.logs.logger,
      metrics,
      times: { backoff, secretMs: 200, ...times },
    });
    await this.source.start();
    return this.source;
  }

  /** Gives the account rights in a namespace. */
  async grant(namespace: string, rules: readonly object[]): Promise<void> {
    const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
    const metadata = { name: 'controller' };
    await sharedCluster().admin.must('POST', `${path}/roles`, { metadata, rules });
    await sharedCluster().admin.must('POST', `${path}/rolebindings`, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: 'runledger-controller', namespace: this.namespace('release') }],
    });
  }

  async stop(): Promise<void> {
    await this.source?.stop();
    // The cluster is shared: later tests must not see these.
    for (const namespace of ['acme', 'globex', 'other'].map((name) => this.namespace(name))) {
      for (const plural of ['automations', 'channels']) {
        await sharedCluster().admin.call('DELETE', `/apis/runledger.dev/v1beta1/namespaces/${namespace}/${plural}`);
      }
    }
  }

  /** Makes or replaces a resource. */
  put(kind: 'Automation' | 'Channel', namespace: string, name: string, spec: object): Promise<unknown> {
    const path = `/apis/runledger.dev/v1beta1/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`;
    const manifest = { apiVersion: 'runledger.dev/v1beta1', kind, metadata: { name }, spec };
    return sharedCluster().admin.apply(path, JSON.stringify(manifest));
  }

  async get(kind: 'Automation' | 'Channel', namespace: string, name: string): Promise<Conditioned> {
    const path = `/apis/runledger.dev/v1beta1/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`;
    return (await sharedCluster().admin.must('GET', path)) as unknown as Conditioned;
  }

  async events(namespace: string): Promise<KubernetesEvent[]> {
    return (await sharedCluster().admin.must('GET', `/api/v1/namespaces/${namespace}/events`))[
      'items'
    ] as KubernetesEvent[];
  }

  /** The accepted automations of this test's namespaces, as `namespace/name organization`. */
  declared(): string[] {
    const own = (this.source?.current()?.automations ?? []).filter(({ namespace }) => namespace.endsWith(this.#id));
    return own.map(({ namespace, name, organization }) => `${namespace}/${name} ${organization}`).sort();
  }
}
