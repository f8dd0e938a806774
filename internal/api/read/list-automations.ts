import type { AutomationPosition } from '../../record/automation.ts';
import { declaredIn } from './declared-in.ts';
import type { Endpoint } from './endpoint.ts';
import { list } from './list.ts';
import { uuid } from './parameters.ts';
import type { ReadOptions } from './read-options.ts';
import { inWindow, windowFilter, windowOf, windowPlace, type InWindow } from './window.ts';

/**
 * `GET /v1/automations/`: automations by id, each with its last execution, what is declared about
 * it, and its figures in the window.
 */
export function listAutomations({ record, publicUrl }: ReadOptions): Endpoint {
  return list<typeof windowFilter, InWindow<AutomationPosition>>({
    path: '/v1/automations/',
    publicUrl,
    changesAlways: true,
    filters: windowFilter,
    place: { automationId: uuid, ...windowPlace },
    read: async ({ state: { organization } }, values, page) => {
      const window = windowOf(values, page.after?.windowEnd);
      const { items, next } = await record.listAutomations(organization, window, page);
      const declared = await declaredIn(
        record,
        organization,
        items.map(({ automation }) => automation),
      );
      return {
        items: items.map((item) => ({ ...item, declaration: declared(item.automation) })),
        next: inWindow(next, window),
      };
    },
  });
}
