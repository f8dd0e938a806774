import type { Generated } from 'kysely';

/** The table `captured_jobs`: the Jobs of Kubernetes whose runs the controller records. */
export interface CapturedJobsTable {
  /** Also the `execution_id` of its run. */
  uid: string;
  organization: string;
  automation_id: string;
  namespace: string;
  name: string;
  started_at: Date | null;
  /** The keys of its recorded events (`internal/controller/capture/job-events.ts`). */
  recorded: Generated<string[]>;
  /** When it was found deleted and all its events were recorded. The row stays for an hour. */
  gone_at: Date | null;
}
