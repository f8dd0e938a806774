import { exportEvents } from '../../readapi/export-events.ts';
import type { RoomOptions } from '../../readapi/with-room.ts';
import { stillViewer } from '../still-viewer.ts';
import type { Console, Screen } from '../visit.ts';

/**
 * Events as a CSV file, with the filters of the export. It begins with a byte order mark, which
 * Excel needs to recognize UTF-8; `bom=false` leaves it out.
 */
export function downloadOf(
  { record, readMetrics, findViewer, site: { publicUrl } }: Console,
  { room }: Pick<RoomOptions, 'room'>,
): Screen {
  const allowed = new WeakMap<object, () => boolean>();
  const { answer } = exportEvents({
    record,
    publicUrl,
    readMetrics,
    room,
    mayStillRead: ({ req }) => allowed.get(req)?.() ?? false,
  });
  return {
    path: '/events.csv',
    limit: 'exports',
    answer: async ({ ctx, organization }) => {
      allowed.set(ctx.req, stillViewer(ctx, organization, findViewer));
      const query = new URLSearchParams(ctx.querystring);
      if (!query.has('bom')) query.set('bom', 'true');
      query.set('format', 'csv');
      ctx.querystring = query.toString();
      // The export sends its headers before this resolves.
      ctx.attachment(`${organization}-events.csv`);
      try {
        await answer(ctx, () => Promise.resolve());
      } catch (error) {
        ctx.remove('Content-Disposition');
        throw error;
      }
    },
  };
}
