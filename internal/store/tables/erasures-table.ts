import type { ErasedScope } from '../../ledger/erasure.ts';

/** The table `erasures`: who erased which events, and why. */
export interface ErasuresTable {
  id: string;
  organization: string;
  erased_at: Date;
  erased_by: string;
  reason: string;
  scope: ErasedScope;
  automation_id: string | null;
  event_ids: Buffer;
}
