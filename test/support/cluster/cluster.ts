import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createKeyPair } from '../certificate.ts';
import { Child } from '../child.ts';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';
import { findBinaries } from './binaries.ts';
import { KubernetesClient } from './kubernetes-client.ts';

/** What stays the same when the API server is started again. */
interface Plan {
  /** For its data and keys. */
  readonly folder: string;
  readonly url: string;
  readonly ca: string;
  readonly adminToken: string;
  startEtcd(): Child;
  startApiServer(): Child;
}

/**
 * A real Kubernetes API server with its etcd, on free ports of 127.0.0.1: TLS, RBAC, and
 * service-account tokens. No kubelet, scheduler or controller: objects are stored and watched,
 * nothing runs them.
 */
export class Cluster {
  /** `https://127.0.0.1:port`, the same after a restart. */
  readonly url: string;
  /** What the API server's certificate is signed with, as PEM. */
  readonly ca: string;
  /** Calls as a member of system:masters. */
  readonly admin: KubernetesClient;
  readonly #plan: Plan;
  readonly #etcd: Child;
  #apiServer: Child;

  private constructor(plan: Plan) {
    this.#plan = plan;
    this.url = plan.url;
    this.ca = plan.ca;
    this.admin = new KubernetesClient(plan.url, plan.ca, plan.adminToken);
    this.#etcd = plan.startEtcd();
    this.#apiServer = plan.startApiServer();
  }

  /** Resolves when the API server answers its readiness probe. */
  static async start(): Promise<Cluster> {
    const cluster = new Cluster(await planCluster());
    try {
      await cluster.#ready();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** A kubeconfig as YAML: of the administrator, or of another token. */
  kubeconfig(namespace = 'default', token = this.#plan.adminToken): string {
    const cluster = { server: this.url, 'certificate-authority-data': Buffer.from(this.ca).toString('base64') };
    return stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster }],
      users: [{ name: 'test', user: { token } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace } }],
      'current-context': 'test',
    });
  }

  /** A token of a ServiceAccount from the TokenRequest API, valid for an hour. */
  async tokenFor(namespace: string, serviceAccount: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`;
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
    const answer = await this.admin.must('POST', path, request);
    return (answer['status'] as { token: string }).token;
  }

  /**
   * A folder with what the kubelet mounts into a pod of this account: `ca.crt`, `namespace`,
   * `token`.
   */
  async podAccountFolder(namespace: string, serviceAccount: string): Promise<string> {
    const folder = await mkdtemp(join(this.#plan.folder, 'account-'));
    await writeFile(join(folder, 'ca.crt'), this.ca);
    await writeFile(join(folder, 'namespace'), namespace);
    await writeFile(join(folder, 'token'), await this.tokenFor(namespace, serviceAccount));
    return folder;
  }

  /** Ends the API server at once, as a crash does. Its data stays. */
  async kill(): Promise<void> {
    await this.#apiServer.kill('SIGKILL');
  }

  /** Starts the API server again, on the same port and with the same data. */
  async restart(): Promise<void> {
    await this.kill();
    this.#apiServer = this.#plan.startApiServer();
    await this.#ready();
  }

  /** Leaves nothing behind, neither process nor file. */
  async stop(): Promise<void> {
    this.admin.close();
    await this.#apiServer.kill('SIGKILL');
    await this.#etcd.kill('SIGKILL');
    await rm(this.#plan.folder, { recursive: true, force: true });
  }

  async #ready(): Promise<void> {
    const ready = async (): Promise<boolean> => {
      const { alive, output } = this.#apiServer;
      if (!alive) throw new Error(`kube-apiserver does not start:\n${output.slice(-20).join('\n')}`);
      return (await this.admin.call('GET', '/readyz').catch(() => undefined))?.status === 200;
    };
    await until('kube-apiserver is ready', ready, 60_000);
  }
}

async function planCluster(): Promise<Plan> {
  const binaries = await findBinaries();
  const folder = await mkdtemp(join(tmpdir(), 'runledger-cluster-'));
  const write = async (name: string, content: string): Promise<string> => {
    await writeFile(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  const tls = await createKeyPair('runledger cluster tests');
  const account = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const adminToken = randomBytes(16).toString('hex');
  const port = await freePort();
  const etcdUrl = `http://127.0.0.1:${await freePort()}`;
  const etcdFlags = [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    '--listen-peer-urls=http://127.0.0.1:0',
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
  const apiServerFlags = [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${await write('tls.crt', tls.cert)}`,
    `--tls-private-key-file=${await write('tls.key', tls.key)}`,
    `--cert-dir=${folder}`,
    `--token-auth-file=${await write('users.csv', `${adminToken},admin,admin,system:masters\n`)}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${await write('account.key', account.privateKey)}`,
    `--service-account-key-file=${await write('account.pub', account.publicKey)}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    // Nobody runs the controller that would give every namespace its default account.
    '--disable-admission-plugins=ServiceAccount',
    '--endpoint-reconciler-type=none',
    '--allow-privileged',
  ];
  return {
    folder,
    url: `https://127.0.0.1:${port}`,
    ca: tls.cert,
    adminToken,
    startEtcd: () => new Child(binaries.etcd, etcdFlags),
    startApiServer: () => new Child(binaries.apiServer, apiServerFlags),
  };
}
