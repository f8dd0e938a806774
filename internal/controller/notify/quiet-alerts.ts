import type { MacKey } from '../../ledger/mac.ts';
import { isMade } from '../../store/acts/act-mac.ts';
import type { Database, Tables } from '../../store/database.ts';
import { sql, type Selectable, type Transaction } from '../../store/sql.ts';
import type { ActsTable } from '../../store/tables/acts-table.ts';
import { Mutes } from '../mutes.ts';
import { keyOf } from './alertmanager-alert.ts';
import type { Matchers } from './alertmanager.ts';
import type { ConsoleLinks } from './links.ts';
import type { Labels } from './told-alerts.ts';

/** What an Alertmanager must not repeat, and why. */
export interface Quiet {
  matchers: Matchers;
  comment: string;
}

interface KnownAlert {
  id: string;
  organization: string;
  automation_id: string;
  known_as: Labels[];
}

/**
 * What nobody wants to hear again of the alerts that a receiver has open: those of a muted
 * organization or automation, and those that somebody has acknowledged. Alerts with the same labels
 * are quiet only together.
 */
export function quietAlerts(
  db: Database,
  { receiver, actKeys, links }: { receiver: string; actKeys: readonly MacKey[]; links: ConsoleLinks },
): Promise<Quiet[]> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<KnownAlert>`
      select a.id, a.organization, a.automation_id, n.known_as
      from alert_notices n join alerts a on (a.organization, a.id) = (n.organization, n.alert_id)
      where n.receiver = ${receiver} and n.known_as <> '[]' and (a.resolved_at is null or a.kept_back = 'resolved')
    `.execute(trx);
    if (rows.length === 0) return [];
    const now = Date.now();
    const mutes = await Mutes.read(trx, now, actKeys);
    const acknowledged = await listAcknowledged(trx, rows, actKeys);
    const quiet = new Map<string, Quiet>();
    const loud = new Set<string>();
    for (const { id, organization, automation_id: automationId, known_as: knownAs } of rows) {
      const scope = mutes.scope({ organization, automationId }, now);
      for (const labels of knownAs) {
        const { matchers, key } = matchersOf(labels, scope);
        if (scope !== undefined)
          quiet.set(key, { matchers, comment: `Muted: ${links.organization(organization)}mutes` });
        else if (!acknowledged.has(id)) loud.add(key);
        else quiet.set(key, { matchers, comment: `Acknowledged: ${links.organization(organization)}alerts/${id}` });
      }
    }
    return [...quiet].filter(([key]) => !loud.has(key)).map(([, one]) => one);
  });
}

/** One silence for all that is muted together; one for the exact labels of an alert otherwise. */
function matchersOf(labels: Labels, scope: ReturnType<Mutes['scope']>): { matchers: Matchers; key: string } {
  const { organization = '', automation = '' } = labels;
  const own = scope === 'organization' ? { organization } : { organization, automation };
  const exact = Object.entries(scope === undefined ? labels : own).map(
    ([name, value]) => ({ name, value, isRegex: false, isEqual: true }) as const,
  );
  const ours = { name: 'alertname', value: 'Automation.+', isRegex: true, isEqual: true } as const;
  return {
    matchers: scope === undefined ? exact : [...exact, ours],
    key: `${scope ?? 'alert'} ${keyOf(scope === undefined ? labels : own)}`,
  };
}

/** The alerts among these that somebody takes care of. */
async function listAcknowledged(
  trx: Transaction<Tables>,
  alerts: readonly KnownAlert[],
  actKeys: readonly MacKey[],
): Promise<Set<string | null>> {
  const { rows } = await sql<Selectable<ActsTable>>`
    select acts.* from acts join unnest(
      ${alerts.map(({ organization }) => organization)}::text[], ${alerts.map(({ id }) => id)}::uuid[]
    ) as told (organization, about) using (organization, about)
    where kind = 'acknowledge'
  `.execute(trx);
  return new Set(rows.filter((row) => isMade(actKeys, row)).map(({ about }) => about));
}
