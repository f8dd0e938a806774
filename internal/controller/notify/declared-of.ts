import type { AlertedAutomation } from '../../expectation/transition.ts';
import type { AutomationsTable } from '../../store/tables/automations-table.ts';
import type { Selectable } from '../../store/sql.ts';

type Declared = Pick<
  Selectable<AutomationsTable>,
  'namespace' | 'name' | 'display_name' | 'owner' | 'tags' | 'links' | 'alert_labels'
>;

/** What people declared about an automation, from its row. */
export function declaredOf(row: Declared): AlertedAutomation {
  return {
    namespace: row.namespace,
    name: row.name,
    displayName: row.display_name,
    owner: row.owner,
    tags: row.tags,
    links: row.links as AlertedAutomation['links'],
    alertLabels: row.alert_labels as AlertedAutomation['alertLabels'],
  };
}
