import { expect } from 'chai';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { keepDeadLetter } from '../../internal/store/dead-letters.ts';
import { runAdmin } from '../support/admin.ts';
import { anEvent } from '../support/events.ts';
import { eachDatabase } from '../support/store.ts';

const automationId = '0190a0b0-0000-7000-8000-00000000000a';
const other = '0190a0b0-0000-7000-8000-00000000000b';

describe('erase, of dead letters', () => {
  const database = eachDatabase();
  let said: string;

  /** Erases, and resolves with the descriptions of the dead letters that are left. */
  async function leftOf(letters: Partial<AcceptedEvent>[], ...args: string[]): Promise<string[]> {
    for (const letter of letters) {
      await keepDeadLetter(database.db, anEvent({ createdAt: Date.now() - 1_000, automationId, ...letter }), '22P05');
    }
    const who = ['erase', '--organization', 'acme', '--by', 'ana', '--reason', 'ticket 7'];
    const { code, stderr } = await runAdmin([...who, ...args, '--yes'], { env: { DATABASE_URL: database.url } });
    said = stderr;
    expect(code, said).to.equal(0);
    const rows = await database.db.selectFrom('dead_letters').select('event').execute();
    return rows.map(({ event }) => (JSON.parse(String(event)) as AcceptedEvent).description).sort();
  }

  it('takes those of one execution, by its whole id', async () => {
    const letters = [
      { executionId: '1', description: 'of it' },
      { executionId: '1', automationId: automationId.toUpperCase(), description: 'of it, \0 and \ud800' },
      { executionId: '10', description: 'of 10' },
      { executionId: 'x', description: 'run 1' },
      { executionId: '1', automationId: other, description: `of another, after ${automationId}` },
      { executionId: '1', organization: 'globex', description: 'of globex' },
    ];
    expect(await leftOf(letters, '--automation', automationId, '--execution', '1')).to.deep.equal([
      'of 10',
      `of another, after ${automationId}`,
      'of globex',
      'run 1',
    ]);
  });

  it('takes those of one automation, and not those that mention it', async () => {
    const letters = [
      { description: 'of it' },
      { automationId: automationId.toUpperCase(), description: 'of it, too' },
      { automationId: other, description: `after ${automationId}` },
    ];
    expect(await leftOf(letters, '--automation', automationId)).to.deep.equal([`after ${automationId}`]);
  });

  it('takes those with a text in one of their texts, and not those that only hold it elsewhere', async () => {
    const letters = [
      { description: 'Say "JANE"\n' },
      { errorId: 'say "jane"\n', description: 'with an error' },
      { executionId: 'say "jane"\n', description: 'of the execution' },
    ];
    expect(await leftOf(letters, '--text', 'description')).to.have.lengthOf(3);
    expect(await leftOf([], '--text', 'say "jane"\n')).to.deep.equal(['of the execution']);
    expect(said).to.contain('1 executions or dead letters have the text in their ids, and stay: use --execution.\n');
  });

  it('takes all of an organization', async () => {
    const letters = [{}, { organization: 'globex', description: 'of globex' }];
    expect(await leftOf(letters, '--all')).to.deep.equal(['of globex']);
  });
});
