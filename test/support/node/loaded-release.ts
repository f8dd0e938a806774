import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createToken } from '../../../internal/cluster/tokens/manifest.ts';
import { actKeyOf, macKeyText } from '../../../internal/ledger/mac.ts';
import { ApiClient } from '../api-client.ts';
import { createKeyPair, type KeyPair } from '../certificate.ts';
import { audit, flawless, type RowSource } from '../fault/audit.ts';
import type { Balancer } from '../fault/balancer.ts';
import type { Ledger, Sample } from '../fault/ledger.ts';
import { Load } from '../fault/load.ts';
import { chart } from '../helm.ts';
import { logKey, macKey } from '../sealed-ledger.ts';
import { until } from '../until.ts';
import type { Kubernetes } from './kubernetes.ts';

/** Receipts before the work begins. */
const warmUp = 100;
/**
 * How long after Redis serves again callers may still get 503, in ms: its new address reaches
 * kube-proxy and the network policies, and ingest connects again.
 */
const reconnectMs = 20_000;
/** How late the API server may tell that Redis is unavailable, in ms. */
const noticeMs = 5_000;

const hosts = { events: 'events.example.com', record: 'record.example.com' };

/** Answers other than the expected one, by status; 0 is no answer. */
export type Others = Record<number, number>;

/** What a job in the cluster needs to report. */
export interface Reporting {
  readonly url: URL;
  /** The IP address of the host in `url`, which no DNS server knows. */
  readonly address: string;
  readonly token: string;
  /** The certificate (PEM) that signs the one of the host. */
  readonly ca: string;
}

/** A release behind a Gateway, whose callers and readers come through TLS. */
export class LoadedRelease {
  readonly namespace = 'runledger';
  readonly #kubernetes: Kubernetes;
  readonly #certificates: Record<keyof typeof hosts, KeyPair>;
  readonly #tokens = { events: createToken(), record: createToken() };
  static #shared?: Promise<LoadedRelease>;
  /** When Redis was not ready: also of an earlier load, as callers may get 503 for a while. */
  readonly #redisAway: number[] = [];
  /** Of every release: each load has a seed of its own, and so its own automations. */
  static #loads = 0;
  #pods = 0;

  private constructor(kubernetes: Kubernetes, certificates: Record<keyof typeof hosts, KeyPair>) {
    this.#kubernetes = kubernetes;
    this.#certificates = certificates;
  }

  /** The one of this run, installed by the first call. */
  static shared(kubernetes: Kubernetes): Promise<LoadedRelease> {
    return (LoadedRelease.#shared ??= LoadedRelease.install(kubernetes, (values, release) =>
      kubernetes.helm('install', ...release.arguments, '--values', values),
    ));
  }

  /** Resolves when the Gateway leads to its ingest. `install` gets a file of values. */
  static async install(
    kubernetes: Kubernetes,
    install: (values: string, release: LoadedRelease) => Promise<unknown>,
  ): Promise<LoadedRelease> {
    const certificates = { events: await createKeyPair(hosts.events), record: await createKeyPair(hosts.record) };
    const release = new LoadedRelease(kubernetes, certificates);
    const { namespace } = release;
    await kubernetes.apply(...release.#objects());
    const folder = await mkdtemp(join(tmpdir(), 'runledger-release-'));
    const values = join(folder, 'values.yaml');
    await writeFile(
      values,
      `gateway: { enabled: true, hostnames: [${hosts.events}], create: { enabled: true, className: traefik } }
console: { gateway: { enabled: true, hostnames: [${hosts.record}], tlsSecretName: record-tls } }
controller: { captureJobs: { enabled: true } }
config: { ledgerKeySecret: runledger-ledger-key }`,
    );
    await install(values, release);
    await rm(folder, { recursive: true });
    await release.#reachable();
    release.#pods = (await kubernetes.pods(namespace)).length;
    return release;
  }

  /** Of `helm install` and `helm upgrade`; takes over resource definitions of another release. */
  get arguments(): string[] {
    return ['runledger', chart, '--namespace', this.namespace, '--take-ownership', '--wait', '--timeout', '120s'];
  }

  #objects(): object[] {
    const tls = (name: string, { cert, key }: KeyPair): object => ({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata: { name, namespace: this.namespace },
      stringData: { 'tls.crt': cert, 'tls.key': key },
    });
    return [
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: this.namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
      },
      {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'GatewayClass',
        metadata: { name: 'traefik' },
        spec: { controllerName: 'traefik.io/gateway-controller' },
      },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'acme', namespace: this.namespace, labels: { 'runledger.dev/organization': 'acme' } },
        stringData: { token: this.#tokens.events, 'read-1': this.#tokens.record },
      },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'runledger-ledger-key', namespace: this.namespace },
        stringData: {
          'ledger-key': logKey,
          'ledger-mac-key': macKeyText(macKey),
          'ledger-act-key': macKeyText(actKeyOf(macKey), 'ACT'),
        },
      },
      tls('runledger-tls', this.#certificates.events),
      tls('record-tls', this.#certificates.record),
    ];
  }

  async #reachable(): Promise<void> {
    const caller = this.client('events');
    const known = async (): Promise<boolean> => {
      const answer = await caller.send({ path: '/v1/ping/' }).catch(() => undefined);
      return answer?.status === 200;
    };
    await until('the Gateway leads to ingest', known, 240_000);
    caller.close();
  }

  /** A caller of ingest or of the console, through TLS. */
  client(of: keyof typeof hosts, maxSockets = 4): ApiClient {
    const headers = { host: hosts[of], token: this.#tokens[of] };
    const tls = { ca: this.#certificates[of].cert, maxSockets };
    return new ApiClient(`https://${this.#kubernetes.addressOf('n1')}`, headers, tls);
  }

  /** The way of a job to ingest: by the Gateway, as everybody else. */
  get reporting(): Reporting {
    const url = new URL(`https://${hosts.events}`);
    const address = this.#kubernetes.addressOf('n1');
    return { url, address, token: this.#tokens.events, ca: this.#certificates.events.cert };
  }

  /** A caller over plain HTTP. */
  plainClient(): ApiClient {
    return new ApiClient(`http://${this.#kubernetes.addressOf('n1')}`, { host: hosts.events });
  }

  /**
   * Does the work while callers send `rate` events a second, before retries, and compares what they
   * were told with what is stored: no event lost, doubled or in a wrong outcome. Fails on a
   * restarted container, except in the pod `restarts`. Resolves with the answers other than 201,
   * without the 503s of the time that Redis was away.
   */
  async underLoad(
    work: () => Promise<unknown>,
    { rate = 100, restarts }: { rate?: number; restarts?: string } = {},
  ): Promise<Others> {
    const before = await this.#restarts();
    const caller = this.client('events', 400);
    const register: Balancer['register'] = (...request) =>
      caller.register(...request).catch(() => ({ status: 0, body: '' }));
    const watched = this.#whileGoingOn(async () => {
      const pods = await this.#kubernetes.pods(this.namespace);
      if (!pods.some(({ name, ready }) => name === 'runledger-redis-0' && ready))
        this.#redisAway.push(performance.now());
      await sleep(250);
    });
    const load = new Load({ register }, { rate, seed: (LoadedRelease.#loads += 1), twins: false, patienceMs: 10_000 });
    try {
      await until('callers get receipts', () => load.ledger.count(201) >= warmUp, 240_000);
      await work();
    } finally {
      await load.stop();
      caller.close();
      await this.ready();
      await watched();
    }
    const restarted = [...(await this.#restarts())].filter(([pod, count]) => count > (before.get(pod) ?? 0));
    expect(restarted.map(([pod]) => pod).filter((pod) => pod !== restarts)).to.deep.equal([]);
    await this.#audit(load);
    const others = load.ledger.samples.filter(({ status }) => status !== 201);
    const explained = ({ status, begun, ended }: Sample): boolean =>
      status === 503 && this.#redisAway.some((at) => at > begun - reconnectMs && at < ended + noticeMs);
    const unexplained = others.filter((sample) => !explained(sample));
    console.log(
      `      ${load.ledger.samples.length} requests; other than 201: ${others.length}, of which ${unexplained.length} while Redis served`,
    );
    return countByStatus(unexplained);
  }

  async #restarts(): Promise<Map<string, number>> {
    return new Map((await this.#kubernetes.pods(this.namespace)).map(({ name, restarts }) => [name, restarts]));
  }

  async #audit(load: Load): Promise<void> {
    const database = await this.#kubernetes.postgres(this.namespace);
    try {
      await until('every receipt is stored', () => isStored(load.ledger, database), 240_000);
      expect(load.ledger.invalidAnswers.slice(0, 3), 'answers that no caller may get').to.deep.equal([]);
      const found = await audit(load.ledger, database, load.automations.ids, 'acme');
      expect(found).to.deep.include({ ...flawless, findings: [] });
    } finally {
      await database.close();
    }
  }

  /** Reads the record all the time during the work. Resolves with the answers other than 200. */
  async whileReading(work: () => Promise<unknown>): Promise<Others> {
    const reader = this.client('record');
    const others: { status: number }[] = [];
    const ended = this.#whileGoingOn(async () => {
      const { status } = await reader.send({ path: '/v1/executions/' }).catch(() => ({ status: 0 }));
      if (status !== 200) others.push({ status });
      // A token may read ten times a second.
      await sleep(150);
    });
    try {
      await work();
    } finally {
      await ended();
      reader.close();
    }
    return countByStatus(others);
  }

  /** Repeats an action; the result ends that. */
  #whileGoingOn(action: () => Promise<void>): () => Promise<void> {
    const end = new AbortController();
    const loop = (async () => {
      while (!end.signal.aborted) await action();
    })();
    return () => {
      end.abort();
      return loop;
    };
  }

  /** Resolves when as many pods are ready as after the installation. */
  async ready(): Promise<void> {
    const complete = async (): Promise<boolean> => {
      const pods = await this.#kubernetes.pods(this.namespace);
      return pods.filter((pod) => pod.ready).length === this.#pods;
    };
    await until('all pods are ready', complete, 180_000, 250);
  }

  /** Resolves when workloads have rolled over. */
  async rolledOut(...workloads: string[]): Promise<void> {
    for (const workload of workloads) {
      const status = ['rollout', 'status', workload, '--namespace', this.namespace, '--timeout=120s'];
      await this.#kubernetes.kubectl(...status);
    }
  }
}

function countByStatus(samples: readonly { status: number }[]): Others {
  const counts: Others = {};
  for (const { status } of samples) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** true when as many events are stored as callers got a 201 for. */
async function isStored(ledger: Ledger, database: RowSource): Promise<boolean> {
  const marks = ledger.entries.filter(({ attempts }) => attempts.some(({ verdict }) => verdict === 'receipt'));
  const descriptions = marks.map(({ body }) => body.description);
  const [row] = await database.query<{ count: string }>(
    'select count(distinct description) from events where description = any($1)',
    [descriptions],
  );
  return Number(row?.count) >= descriptions.length;
}
