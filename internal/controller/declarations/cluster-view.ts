import { Lists, namespacesQueries, queriesIn, type Following } from '../../cluster/lists.ts';
import type { KubernetesObject } from '../../cluster/object.ts';
import type { AutomationManifest } from './declare.ts';
import { Budgets, bytesOf, declaredLimits } from './declared-limits.ts';
import { keepResource, type ManagedManifest } from './keep-resource.ts';
import type { KnownAutomations } from './known-automations.ts';
import { apiVersion, organizationLabel, organizationOf, turnsDefaultsOff, type ResourceManifest } from './manifest.ts';

interface NamespaceFacts {
  readonly name: string;
  readonly organization: string | undefined;
  readonly silent: boolean;
}

/** The automations, channels and labelled namespaces of a cluster, as one attempt lists them. */
export class ClusterView {
  readonly #automations: Lists<ManagedManifest, AutomationManifest>;
  readonly #channels: Lists<ManagedManifest, ResourceManifest>;
  readonly #namespaces: Lists<KubernetesObject, NamespaceFacts>;
  readonly #known: KnownAutomations;
  /** Counts channels; a deleted one counts until the next list. */
  readonly #budgets = new Budgets(declaredLimits.channels);

  /** @param namespaces empty for all namespaces. */
  constructor(namespaces: readonly string[], known: KnownAutomations) {
    this.#known = known;
    const resources = (plural: string) => queriesIn(namespaces, { group: `apis/${apiVersion}`, plural });
    this.#automations = new Lists(resources('Automations'));
    this.#channels = new Lists(resources('Channels'));
    this.#namespaces = new Lists(namespacesQueries(namespaces, organizationLabel));
  }

  /** True once every list has been read. */
  get complete(): boolean {
    return [this.#automations, this.#channels, this.#namespaces].every(({ complete }) => complete);
  }

  get automations(): AutomationManifest[] {
    return this.#automations.objects();
  }

  get channels(): ResourceManifest[] {
    return this.#channels.objects();
  }

  /** Namespace → organization. */
  get organizations(): ReadonlyMap<string, string> {
    const pairs = this.#namespaces.objects();
    return new Map(
      pairs.flatMap(({ name, organization }) => (organization === undefined ? [] : [[name, organization]])),
    );
  }

  /** Organizations with a namespace that turns the defaults off. */
  get silent(): string[] {
    const silent = this.#namespaces.objects().filter((namespace) => namespace.silent);
    return silent.flatMap(({ organization }) => organization ?? []);
  }

  #bounded(channel: ResourceManifest): ResourceManifest {
    const { uid = '', namespace = '' } = channel.metadata ?? {};
    if (this.#budgets.take(uid, namespace, bytesOf(channel.spec))) return channel;
    return { ...channel, spec: undefined, isLeftOut: true };
  }

  /** Follows everything until `end` is aborted. Rejects on the first error. */
  async follow(following: Following): Promise<void> {
    const keep = (manifest: ManagedManifest): ResourceManifest => keepResource(manifest, this.#known.texts);
    await Promise.all([
      ...this.#automations.follow(
        (automation) => this.#known.take(keep(automation)),
        following,
        (before, after) => before !== after,
      ),
      ...this.#channels.follow((channel) => this.#bounded(keep(channel)), following),
      ...this.#namespaces.follow(
        (namespace): NamespaceFacts => ({
          name: namespace.metadata?.name ?? '',
          organization: organizationOf(namespace),
          silent: turnsDefaultsOff(namespace),
        }),
        following,
      ),
    ]);
  }
}
