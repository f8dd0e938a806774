import type { ColumnType, Generated } from 'kysely';

/** JSON that queries write as text. */
type Json = ColumnType<unknown, string, string>;

/**
 * The table `automations`: what is declared about each automation, and its last verdicts.
 * `internal/controller/declarations` writes the declaration, and `internal/controller/verdicts` the
 * rest.
 */
export interface AutomationsTable {
  organization: string;
  automation_id: string;
  namespace: string;
  name: string;
  uid: string;
  generation: string;
  display_name: string;
  owner: string;
  tags: Generated<string[]>;
  links: Json;
  /** As declared, after `readAutomation` has accepted it; null without expectations. */
  expect: ColumnType<unknown, string | null, string | null>;
  alert_labels: Json;
  suspend: boolean;
  /** When the meaning of a rule, or `suspend`, last changed. */
  declared_at: Date;
  /** What each rule means, and since when: `Rules` of `internal/expectation`. */
  rules: ColumnType<unknown, string | undefined, string>;
  /** One sentence for its owner if a part of the declaration could not be applied as declared. */
  note: string | null;
  /** False: the defaults of its organization apply, and ticks keep the row. */
  declared: Generated<boolean>;
  /**
   * The watermark at which the verdicts may change without new events. Null: at the next tick. A
   * changed declaration sets it to null.
   */
  next_at: Date | null;
  /** The watermark of the last evaluation. A changed declaration keeps it. */
  evaluated_at: Date | null;
  /** The verdicts that hold: an array of `Verdict` (`internal/expectation`); null at first. */
  verdict: ColumnType<unknown, string | null, string | null>;
  /** The starts of its last two runs: retention may delete the runs before the next is expected. */
  start_before: Date | null;
  last_start: Date | null;
}
