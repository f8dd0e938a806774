import { noProof } from '../../readapi/ledger.ts';
import { eventOf } from '../path-ids.ts';
import type { Screen } from '../visit.ts';

/** The proof that an event is in the log, as a file (C2SP tlog-proof). */
export const proof: Screen = {
  path: '/proofs/:event',
  answer: async (visit, { record }) => {
    const { ctx, organization } = visit;
    const id = eventOf(visit);
    const text = await record.getProof(organization, id);
    if (text === undefined) throw noProof();
    ctx.status = 200;
    ctx.set('Cache-Control', 'private, no-store');
    ctx.attachment(`${id}.tlog-proof`);
    ctx.type = 'text/plain; charset=utf-8';
    ctx.body = text;
  },
};
