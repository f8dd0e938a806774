import { expect } from 'chai';
import { Campaign } from '../support/fault/campaign.ts';
import { describeEpisode, faultTypes, firstEpisodes } from '../support/fault/plan.ts';
import { seedOfRun } from '../support/fault/random.ts';
import { recoveryLimit } from '../support/fault/totals.ts';

/** Of the pairs that a soak draws; it goes through many more. */
const pairCount = 4;

/** Longer holds are the soak's. In ms. */
const longestHold = 2_500;

describe('faults under load', () => {
  const seed = seedOfRun();
  const alone = firstEpisodes({ seed, pairs: 0, longestHold }, Object.keys(faultTypes).length);
  const pairs = firstEpisodes({ seed, pairs: 1, longestHold }, pairCount, ({ length }) => length === 2);
  let campaign: Campaign;

  before(async () => {
    campaign = await Campaign.start({ seed, rate: 100 });
    campaign.begin();
  });

  after(() => campaign.stop());

  for (const episode of alone) {
    it(`201s resume after ${describeEpisode(episode)}, SEED=${seed}`, async function () {
      const missing = episode.flatMap(({ kind }) => campaign.missing().get(kind) ?? []);
      if (missing.length > 0) {
        console.log(`left out: ${missing.join()}`);
        this.skip();
      }
      expect(await campaign.inject(episode), campaign.system.timeline.tail()).to.be.below(recoveryLimit);
    });
  }

  for (const episode of pairs) {
    it(`201s resume after ${describeEpisode(episode)}, SEED=${seed}`, async () => {
      expect(await campaign.inject(episode), campaign.system.timeline.tail()).to.be.below(60_000);
    });
  }

  it('nothing is lost, nothing is doubled, every outcome is right', async () => {
    await campaign.settle();
    const broken = campaign.broken();
    if (broken !== undefined) throw new Error(broken);
    expect(campaign.totals.receipts).to.be.above(1_000);
  });
});
