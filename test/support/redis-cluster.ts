import { freePort } from './free-port.ts';
import { clustered, RedisServer } from './redis-server.ts';
import { replicasOf, replicated } from './replica.ts';
import { until } from './until.ts';

/** The last slots of the three masters. */
const lastSlots = [5_460, 10_922, 16_383];

interface Member {
  server: RedisServer;
  busPort: number;
}

/** A Redis Cluster of three masters, each with one replica. */
export class RedisCluster implements AsyncDisposable {
  readonly #masters: readonly Member[];
  readonly #replicas: readonly Member[];

  private constructor(masters: readonly Member[], replicas: readonly Member[]) {
    this.#masters = masters;
    this.#replicas = replicas;
  }

  /** Resolves once every replica has the data of its master. */
  static async start(): Promise<RedisCluster> {
    const members = await Promise.all(lastSlots.flatMap(() => [startMember(), startMember()]));
    const cluster = new RedisCluster(members.slice(0, 3), members.slice(3));
    await cluster.#join();
    return cluster;
  }

  get url(): string {
    return this.#all.map(({ server }) => server.url).join();
  }

  /** As they are at the start. */
  get masters(): RedisServer[] {
    return this.#masters.map(({ server }) => server);
  }

  /** The master of a key, and its replica, as they are at the start. */
  async ownersOf(key: string): Promise<{ master: RedisServer; replica: RedisServer }> {
    const slot = Number(await this.#masters[0]?.server.command('cluster', 'keyslot', key));
    const index = lastSlots.findIndex((last) => slot <= last);
    const [master, replica] = [this.#masters[index], this.#replicas[index]];
    if (master === undefined || replica === undefined) throw new Error(`no master has slot ${slot}`);
    return { master: master.server, replica: replica.server };
  }

  /** Changes a setting of all members that run. */
  async configure(setting: string, value: string): Promise<void> {
    await Promise.all(this.#all.map(({ server }) => server.command('config', 'set', setting, value)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map(({ server }) => server.stop()));
  }

  get #all(): Member[] {
    return [...this.#masters, ...this.#replicas];
  }

  async #join(): Promise<void> {
    const [first] = this.#masters;
    for (const { server, busPort } of this.#all.slice(1)) {
      await first?.server.command('cluster', 'meet', '127.0.0.1', String(server.port), String(busPort));
    }
    for (const [index, { server }] of this.#masters.entries()) {
      const firstSlot = (lastSlots[index - 1] ?? -1) + 1;
      await server.command('cluster', 'addslotsrange', String(firstSlot), String(lastSlots[index]));
    }
    for (const [index, { server }] of this.#replicas.entries()) {
      const id = String(await this.#masters[index]?.server.command('cluster', 'myid'));
      const follow = (): Promise<boolean> =>
        server.command('cluster', 'replicate', id).then(
          () => true,
          () => false,
        );
      await until('the replica knows its master', follow);
    }
    for (const { server } of this.#masters) await until('a replica', async () => (await replicasOf(server)) === 1);
    for (const { server } of this.#all) {
      await until('the cluster is up', async () => {
        const info = String(await server.command('cluster', 'info'));
        return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:6');
      });
    }
  }
}

async function startMember(): Promise<Member> {
  const busPort = await freePort();
  const args = [...clustered(busPort), ...replicated, '--cluster-node-timeout', '2000'];
  return { server: await RedisServer.start(args), busPort };
}
