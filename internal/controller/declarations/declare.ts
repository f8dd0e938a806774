import type { ReadAutomation } from '../../expectation/read-automation.ts';
import { readChannel } from '../../expectation/read-channel.ts';
import { keyOf } from '../../cluster/object.ts';
import { storable } from '../../event/stored-text.ts';
import type { Declarations, DeclaredAutomation, DeclaredChannel } from './declarations.ts';
import { Budgets, bytesOf, declaredLimits } from './declared-limits.ts';
import type { ResourceKind, ResourceManifest } from './manifest.ts';
import { problemOfKeys, type SigningKeys } from './signing-keys.ts';

/** An `Automation` with its checked spec. `manifest` may lack the spec. */
export interface AutomationManifest {
  readonly manifest: ResourceManifest;
  /** Undefined if its namespace declares too much. */
  readonly read: ReadAutomation | undefined;
  /** The size of `read`. */
  readonly bytes: number;
}

/** All manifests that declare something, as they were read. */
export interface Manifests {
  readonly automations: readonly AutomationManifest[];
  readonly channels: readonly ResourceManifest[];
  /** Namespace → organization, for the labelled namespaces. */
  readonly organizations: ReadonlyMap<string, string>;
  /** Organizations without defaults. */
  readonly silent?: readonly string[];
  /** The signing keys in a Secret; undefined until it is read. */
  keysOf(namespace: string, secret: string): SigningKeys | undefined;
}

/** Whether and why a resource is accepted: the condition `Ready`. */
export interface Acceptance {
  readonly kind: ResourceKind;
  readonly manifest: ResourceManifest;
  readonly accepted: boolean;
  /** One word. */
  readonly reason: string;
  /** One sentence for people. */
  readonly message: string;
  /** The declaration of an accepted automation. */
  readonly automation?: DeclaredAutomation;
}

/** Returns the declarations of all resources, and what to tell the owner of each. */
export function declare(manifests: Manifests): { declarations: Declarations; acceptances: Acceptance[] } {
  const beyond = beyondBounds(manifests);
  const automations = withoutDuplicates(
    manifests.automations.map((each) =>
      beyond.has(each.manifest)
        ? refusing('Automation', each.manifest)('TooMany', tooMany)
        : acceptAutomation(each, manifests),
    ),
  );
  const channels: DeclaredChannel[] = [];
  const ofChannels = manifests.channels.map((manifest) =>
    beyond.has(manifest)
      ? refusing('Channel', manifest)('TooMany', tooMany)
      : acceptChannel(manifest, manifests, channels),
  );
  return {
    declarations: {
      automations: automations.flatMap(({ automation }) => automation ?? []),
      channels,
      silent: manifests.silent ?? [],
    },
    acceptances: [...automations, ...ofChannels],
  };
}

const tooMany = `the organization declares more than ${declaredLimits.automations} automations, ${declaredLimits.channels} channels, or 8 MiB of either`;

/** The resources beyond an organization's limits: the newest ones. */
function beyondBounds({ automations, channels, organizations }: Manifests): ReadonlySet<ResourceManifest> {
  const beyond = new Set<ResourceManifest>();
  const bound = (most: number, all: readonly { manifest: ResourceManifest; bytes: number }[]): void => {
    const budgets = new Budgets(most);
    for (const { manifest, bytes } of all.toSorted(byAge)) {
      const organization = organizations.get(manifest.metadata?.namespace ?? '');
      const fits = manifest.isLeftOut !== true && budgets.take(keyOf(manifest), organization ?? '', bytes);
      if (organization !== undefined && !fits) beyond.add(manifest);
    }
  };
  bound(declaredLimits.automations, automations);
  bound(
    declaredLimits.channels,
    channels.map((manifest) => ({ manifest, bytes: bytesOf(manifest.spec) })),
  );
  return beyond;
}

function acceptAutomation({ manifest, read }: AutomationManifest, { organizations }: Manifests): Acceptance {
  const { name = '', namespace = '', uid = '', generation = 0 } = manifest.metadata ?? {};
  const refused = refusing('Automation', manifest);
  const organization = organizations.get(namespace);
  if (organization === undefined) return refused('NoOrganization', withoutLabel(namespace));
  if (read === undefined) return refused('TooMany', tooMany);
  const { spec, problems } = read;
  if (spec === undefined) {
    const ofSchedule = problems.every((problem) => /^expect\.(schedule|timeZone):/.test(problem));
    return refused(ofSchedule ? 'InvalidSchedule' : 'InvalidSpec', inSpec(problems));
  }
  const displayName = spec.displayName === '' ? name : spec.displayName;
  return {
    ...accepted('Automation', manifest, organization),
    automation: { ...spec, displayName, organization, namespace, name, uid, generation },
  };
}

function acceptChannel(manifest: ResourceManifest, manifests: Manifests, channels: DeclaredChannel[]): Acceptance {
  const { name = '', namespace = '' } = manifest.metadata ?? {};
  const refused = refusing('Channel', manifest);
  const organization = manifests.organizations.get(namespace);
  if (organization === undefined) return refused('NoOrganization', withoutLabel(namespace));
  const { spec, problems } = readChannel(manifest.spec);
  if (spec === undefined) return refused('InvalidSpec', inSpec(problems));
  // Without keys, its notifications wait in the outbox until the Secret is valid.
  channels.push({ ...spec, organization, namespace, name });
  if (spec.secretRef === '') return accepted('Channel', manifest, organization);
  const keys = manifests.keysOf(namespace, spec.secretRef);
  if (keys === undefined) return refused('SecretNotRead', `Secret ${spec.secretRef} is not read yet`);
  if ('problem' in keys) return refused(keys.reason, `Secret ${spec.secretRef}: ${keys.problem}`);
  const problem = problemOfKeys(spec.type, keys.keys);
  if (problem !== undefined) return refused('InvalidSecret', `Secret ${spec.secretRef}: ${problem}`);
  return accepted('Channel', manifest, organization);
}

/**
 * If several resources declare the same automation of an organization, only the oldest counts; in a
 * file, the first. A note on it names the others.
 */
function withoutDuplicates(acceptances: readonly Acceptance[]): Acceptance[] {
  const owners = new Map<string, Acceptance>();
  for (const acceptance of acceptances.toSorted(byAge)) {
    const key = identityOf(acceptance);
    if (key !== undefined && !owners.has(key)) owners.set(key, acceptance);
  }
  const sharing = Map.groupBy(acceptances, (acceptance) => identityOf(acceptance) ?? '');
  return acceptances.map((acceptance) => {
    const owner = owners.get(identityOf(acceptance) ?? '');
    if (owner === undefined) return acceptance;
    if (owner === acceptance) return withNote(acceptance, sharing.get(identityOf(acceptance) ?? '') ?? []);
    const message = `${keyOf(owner.manifest)} declared this automationId of the organization before`;
    return refusing('Automation', acceptance.manifest)('DuplicateAutomation', message);
  });
}

/** Maximum number of refused resources that a note names. */
const mostNamed = 10;

function withNote(acceptance: Acceptance, sharing: readonly Acceptance[]): Acceptance {
  const others = sharing.filter((other) => other !== acceptance);
  if (acceptance.automation === undefined || others.length === 0) return acceptance;
  const more = others.length > mostNamed ? [`${others.length - mostNamed} more`] : [];
  const names = [...others.slice(0, mostNamed).map(({ manifest }) => keyOf(manifest)), ...more].join(', ');
  const declare =
    others.length === 1 ? 'declares this automationId too, and is' : 'declare this automationId too, and are';
  return { ...acceptance, automation: { ...acceptance.automation, note: `${names} ${declare} refused.` } };
}

function identityOf({ automation }: Acceptance): string | undefined {
  return automation === undefined ? undefined : `${automation.organization}/${automation.automationId}`;
}

type Aged = Pick<Acceptance, 'manifest'>;

/** Oldest first, within the same second by name. In a file they keep their order. */
function byAge({ manifest: a }: Aged, { manifest: b }: Aged): number {
  const [one, other] = [a.metadata?.creationTimestamp ?? '', b.metadata?.creationTimestamp ?? ''];
  if (one !== other) return one < other ? -1 : 1;
  if (one === '') return 0;
  return keyOf(a) < keyOf(b) ? -1 : 1;
}

function accepted(kind: ResourceKind, manifest: ResourceManifest, organization: string): Acceptance {
  return { kind, manifest, accepted: true, reason: 'Accepted', message: `declared for organization ${organization}` };
}

function refusing(kind: ResourceKind, manifest: ResourceManifest): (reason: string, message: string) => Acceptance {
  return (reason, message) => ({ kind, manifest, accepted: false, reason, message });
}

function withoutLabel(namespace: string): string {
  return `namespace ${namespace} has no label runledger.dev/organization, which names the organization`;
}

/** Maximum length of a condition's message, in characters. */
const longestMessage = 4_000;

function inSpec(problems: readonly string[]): string {
  return storable(problems.map((problem) => `spec.${problem}`).join('; '), longestMessage);
}
