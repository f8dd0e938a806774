import { expect } from 'chai';
import { flawless } from '../support/fault/audit.ts';
import { sharedSystem } from '../support/fault/shared-system.ts';
import { slotNames, type System } from '../support/fault/system.ts';
import { until } from '../support/until.ts';

describe('rolling restart', () => {
  let system: System;

  before(async () => {
    system = await sharedSystem();
  });

  it('of ingest and workers at 1,000 events/s: every answer is 201', async () => {
    // A busy machine must not pass for a pod that was cut off.
    const load = system.startLoad({ rate: 1_000, twins: false, patienceMs: 60_000 });
    const moreReceipts = async (): Promise<void> => {
      const before = load.ledger.count(201);
      await until('1,000 more receipts', () => load.ledger.count(201) > before + 1_000, 60_000);
    };
    await moreReceipts();
    for (const slot of slotNames) await system.replace(slot);
    await moreReceipts();
    const { found } = await system.settle(load);

    expect([...load.ledger.statuses.keys()]).to.deep.equal([201]);
    expect(found).to.include({ ...flawless, withoutReceipt: 0 });
  });
});
