import { randomBytes } from 'node:crypto';
import { command } from './programs.ts';

/**
 * The addresses of one node's pods. They exist in network namespaces only, apart from those of the
 * machine.
 */
const subnet = '10.87.0';

/**
 * A network of pods: a namespace with a bridge, which is the node, and one more for each pod, tied
 * to it. Each has its own ports, so that pods may listen on the ones that the chart gives them.
 */
export class PodNetwork implements AsyncDisposable {
  readonly #id = `rl${randomBytes(3).toString('hex')}`;
  readonly #namespaces: string[] = [];

  static async create(): Promise<PodNetwork> {
    const network = new PodNetwork();
    await network.#add(network.node.namespace);
    const ip = (...args: string[]) => command('ip', '-n', network.node.namespace, ...args);
    await ip('link', 'add', 'pods', 'type', 'bridge');
    await ip('addr', 'add', `${network.node.address}/24`, 'dev', 'pods');
    await ip('link', 'set', 'pods', 'up');
    return network;
  }

  /** Where the ingress controller and the Services are. */
  get node(): PodAddress {
    return { namespace: `${this.#id}-node`, address: `${subnet}.1` };
  }

  /** The namespace and address of one more pod. */
  async join(): Promise<PodAddress> {
    const number = this.#namespaces.length + 1;
    const namespace = `${this.#id}-${number}`;
    const address = `${subnet}.${number}`;
    await this.#add(namespace);
    const cable = `${this.#id}v${number}`;
    await command(
      'ip',
      '-n',
      this.node.namespace,
      'link',
      'add',
      cable,
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      namespace,
    );
    await command('ip', '-n', this.node.namespace, 'link', 'set', cable, 'master', 'pods', 'up');
    await command('ip', '-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    await command('ip', '-n', namespace, 'link', 'set', 'eth0', 'up');
    return { namespace, address };
  }

  async #add(namespace: string): Promise<void> {
    await command('ip', 'netns', 'add', namespace);
    this.#namespaces.push(namespace);
    await command('ip', '-n', namespace, 'link', 'set', 'lo', 'up');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const namespace of this.#namespaces.splice(0)) await command('ip', 'netns', 'del', namespace);
  }
}

/** Where a pod is: the name of its network namespace, and its IP address there. */
export interface PodAddress {
  readonly namespace: string;
  readonly address: string;
}
