import { consoleNamespace } from '../../expectation/read-automation.ts';
import { browserHeaders } from '../../kit/html/answer-html.ts';
import { uuid } from '../../readapi/parameters.ts';
import { readQuery } from '../../readapi/query.ts';
import type { Declaration } from '../../record/declaration.ts';
import type { Screen } from '../visit.ts';

/** All declarations as resources, for a cluster or AUTOMATIONS_FILE. `id` selects one. */
export const automationsYaml: Screen = {
  path: '/automations.yaml',
  answer: async ({ ctx, organization }, { record, toYaml }) => {
    const { id } = readQuery(ctx, { id: uuid });
    const all = await record.listDeclarations(organization, id === undefined ? undefined : [id]);
    const resources = all.filter(({ declared }) => declared).map(resourceOf);
    ctx.set({ ...browserHeaders, 'Cache-Control': 'private, no-cache' });
    ctx.attachment(`${organization}-automations.yaml`);
    ctx.type = 'application/yaml';
    ctx.body = resources.map(toYaml).join('---\n');
  },
};

function resourceOf({
  automation,
  namespace,
  name,
  display_name,
  owner,
  tags,
  links,
  expect,
  alert_labels,
  suspend,
}: Declaration): object {
  const isOfConsole = namespace === consoleNamespace;
  return {
    apiVersion: 'runledger.dev/v1beta1',
    kind: 'Automation',
    metadata: { name, ...(!isOfConsole && { namespace }) },
    spec: {
      automationId: automation,
      ...(display_name !== '' && { displayName: display_name }),
      ...(owner !== '' && { owner }),
      ...(tags.length > 0 && { tags }),
      ...(links.length > 0 && { links }),
      ...(expect !== null && { expect }),
      ...(Object.keys(alert_labels).length > 0 && { alertLabels: alert_labels }),
      ...(suspend && { suspend }),
    },
  };
}
