import type { ColumnType, Generated } from 'kysely';

/**
 * The table `retention_approvals`: a person's approval that retention drops all partitions before a
 * day (docs/operate/runbooks/RunledgerRetentionAsks.md).
 */
export interface RetentionApprovalsTable {
  before: ColumnType<Date, string, never>;
  approved_at: Generated<Date>;
  approved_by: Generated<string>;
}
