import { expect } from 'chai';
import type { Context } from '../../../internal/intake/http/page-route.ts';
import { PageZone, PageZones } from '../../../internal/console/page-zone.ts';
import { Zone } from '../../../internal/expectation/zone.ts';

const at = Date.parse;

describe('the zone of a page', () => {
  const madrid = new PageZone('Europe/Madrid');

  it('writes times with its offset', () => {
    expect(madrid.minute(at('2026-01-31T23:30:00Z'))).to.equal('2026-02-01 00:30 +01:00');
    expect(madrid.second(at('2026-07-31T22:00:07Z'))).to.equal('2026-08-01 00:00:07 +02:00');
    expect(new PageZone('UTC').minute(at('2026-01-31T23:30:00Z'))).to.equal('2026-01-31 23:30 UTC');
    expect(new PageZone('America/St_Johns').minute(at('2026-01-31T01:00:00Z'))).to.equal('2026-01-30 21:30 −03:30');
  });

  it('tells the times of sentences of verdicts in itself, whatever zone they are in', () => {
    const said = new Zone('Asia/Kolkata').describe(at('2026-07-31T22:00:00Z'));
    const [from, until] = new Zone('UTC').describeSpan(at('2026-01-31T23:30:01Z'), at('2026-01-31T23:30:20Z'));
    expect(madrid.sentence(`No run started at the expected time, ${said}.`)).to.equal(
      'No run started at the expected time, 1 August 2026, 00:00 (Europe/Madrid).',
    );
    expect(madrid.sentence(`Runledger may lack events from ${from} to ${until}.`)).to.equal(
      'Runledger may lack events from 1 February 2026, 00:30:01 (Europe/Madrid) to 1 February 2026, 00:30:20 (Europe/Madrid).',
    );
    for (const other of ['1 Foo 2026, 00:00 (UTC)', '1 May 2026, 00:00 (Nowhere/Land)', '1 May 2026, 00:00']) {
      expect(madrid.sentence(other)).to.equal(other);
    }
  });

  it('reads what a field of a form says', () => {
    for (const time of ['2026-01-31T23:30:00Z', '2026-07-31T22:00:00Z', '2026-10-25T02:30:00Z']) {
      expect(madrid.momentOf(madrid.field(at(time)))).to.equal(at(time));
    }
    expect(madrid.momentOf('2026-10-25T02:30'), 'an hour that comes twice').to.equal(at('2026-10-25T00:30:00Z'));
    expect(madrid.momentOf('2026-03-29T02:30'), 'a skipped hour').to.equal(at('2026-03-29T01:30:00Z'));
  });

  it('knows where a day begins, also where midnight is skipped', () => {
    expect(madrid.startOf('2026-03-30')).to.equal(at('2026-03-29T22:00:00Z'));
    expect(new PageZone('America/Santiago').startOf('2026-09-06')).to.equal(at('2026-09-06T04:00:00Z'));
  });

  it('is the one that the browser has told, if there is such a zone', () => {
    const zones = new PageZones();
    const of = (cookie: string): string => zones.of({ get: () => cookie } as unknown as Context).name;
    expect(of('a=b; zone=Europe/Madrid; c=d')).to.equal('Europe/Madrid');
    expect(of('zone=America/Argentina/Buenos_Aires')).to.equal('America/Argentina/Buenos_Aires');
    for (const cookie of ['', 'zone=', 'zone=Nowhere/Land', 'zone=+25:00', 'myzone=Europe/Madrid']) {
      expect(of(cookie), cookie).to.equal('UTC');
    }
  });
});
