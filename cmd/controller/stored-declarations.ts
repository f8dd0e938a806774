import type {
  Declarations,
  DeclaredAutomation,
  DeclaredChannel,
  UnstoredResource,
} from '../../internal/controller/declarations/declarations.ts';
import type { Unstored } from '../../internal/controller/declarations/table-sync.ts';
import type { Residents } from '../../internal/store/organizations/residents.ts';
import { messageOf } from '../../internal/kit/errors/message-of.ts';

/** Selects the declarations that go into the tables of a database. */
export class StoredDeclarations {
  readonly #residents: Residents | undefined;
  /** Versions that Postgres refused. */
  #refused = new Set<string>();
  #last: { all: Declarations; version: unknown; refused: unknown; kept: Declarations } | undefined;

  /** @param residents the organizations of the database, if there are several. */
  constructor(residents: Residents | undefined) {
    this.#residents = residents;
  }

  /**
   * The declarations of this database's organizations, except refused ones; the same object until
   * they change.
   */
  of(all: Declarations): Declarations {
    const residents = this.#residents;
    const refused = this.#refused;
    if (residents === undefined && refused.size === 0) return all;
    const version = residents?.version;
    if (this.#last?.all === all && this.#last.version === version && this.#last.refused === refused)
      return this.#last.kept;
    const isKept = (declared: DeclaredAutomation | DeclaredChannel): boolean =>
      residents?.isHere(declared.organization) !== false && !(refused.size > 0 && refused.has(versionOf(declared)));
    const kept = { ...all, automations: all.automations.filter(isKept), channels: all.channels.filter(isKept) };
    this.#last = { all, version, refused, kept };
    return kept;
  }

  /** Omits these from now on. Returns them as resources. */
  refuse({ automations, channels }: Unstored): UnstoredResource[] {
    const all = [
      ...automations.map(({ item, error }) => ({ kind: 'Automation' as const, item, error })),
      ...channels.map(({ item, error }) => ({ kind: 'Channel' as const, item, error })),
    ];
    if (all.length > 0) this.#refused = new Set([...this.#refused, ...all.map(({ item }) => versionOf(item))]);
    return all.map(({ kind, item: { namespace, name }, error }) => {
      const why = messageOf(error);
      return { kind, namespace, name, message: `the database refuses the declaration: ${why}` };
    });
  }
}

/** A text that changes with the declaration. */
function versionOf(declared: DeclaredAutomation | DeclaredChannel): string {
  if ('uid' in declared) return `${declared.uid}@${declared.generation}`;
  return JSON.stringify(declared);
}
