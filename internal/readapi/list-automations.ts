import type { Automation, AutomationPosition } from '../record/automation.ts';
import type { Window } from '../record/filters.ts';
import { automationFilter, chosenAutomations, nameExecution, withNames } from './automation-names.ts';
import { declaredIn } from './declared-in.ts';
import type { Endpoint } from './endpoint.ts';
import { list } from './list.ts';
import { uuid } from './parameters.ts';
import type { ReadOptions } from './read-options.ts';
import { inWindow, windowFilter, windowOf, windowPlace, type InWindow } from './window.ts';

const filters = { ...automationFilter, ...windowFilter } as const;

/**
 * `GET /v1/automations/`: automations by id, each with its last execution, its declaration, and its
 * figures in the window.
 */
export function listAutomations({ record, publicUrl }: ReadOptions): Endpoint {
  return list<typeof filters, InWindow<AutomationPosition>>({
    path: '/v1/automations/',
    scopes: ['read', 'manage'],
    publicUrl,
    changesAlways: true,
    filters,
    place: { automationId: uuid, ...windowPlace },
    read: async ({ state: { organization } }, values, page) => {
      const window = windowOf(values, page.after?.windowEnd);
      const { automationId: id, automationIds: some } = await chosenAutomations(record, organization, values);
      const isOut = id !== undefined && some?.includes(id) === false;
      const { items, next } =
        id === undefined || isOut
          ? await record.listAutomations(organization, window, page, isOut ? [] : some)
          : { items: await readOne(record, organization, id, window), next: undefined };
      const declared = await declaredIn(
        record,
        organization,
        items.map(({ automation }) => automation),
      );
      return {
        items: (await withNames(record, organization, items)).map((item) => ({
          ...item,
          last_execution: nameExecution(item.last_execution, item.automation_name),
          declaration: declared(item.automation),
        })),
        next: inWindow(next, window),
      };
    },
  });
}

async function readOne(
  record: ReadOptions['record'],
  organization: string,
  id: string,
  window: Window,
): Promise<Automation[]> {
  const found = await record.getAutomation(organization, id, { ...window, step: 'day' });
  if (found === undefined) return [];
  const { automation, last_execution, window: figures } = found;
  return [{ automation, last_execution, window: figures }];
}
