import { expect } from 'chai';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { executionsOf, type Execution } from '../../support/outcome-oracle.ts';
import { anEvent } from '../../support/events.ts';

/** The one execution that events of these kinds make, a millisecond apart. */
function outcomeOf(...kinds: AcceptedEvent['kind'][]): Execution {
  const [execution] = executionsOf(kinds.map((kind, index) => anEvent({ kind, createdAt: 1_000 + index }))).values();
  if (execution === undefined) throw new Error('no execution');
  return execution;
}

describe('outcome', () => {
  const rules: [AcceptedEvent['kind'][], Partial<Execution>][] = [
    [['START'], { state: 'running', startedAt: 1_000, endedAt: null }],
    [['START', 'EVENT', 'WARNING'], { state: 'running' }],
    [['START', 'END'], { state: 'succeeded', endedAt: 1_001 }],
    [['START', 'WARNING', 'END'], { state: 'succeeded', failedAt: null }],
    [['START', 'ERROR'], { state: 'failed', failedAt: 1_001 }],
    [['START', 'ERROR', 'END'], { state: 'failed', endedAt: 1_002, eventAfterEnd: false }],
    [['START', 'END', 'ERROR'], { state: 'failed', eventAfterEnd: true }],
    [['END'], { state: 'succeeded', startMissing: true }],
    [['EVENT', 'START'], { state: 'running', startMissing: false, startLate: true }],
    [['START', 'START'], { state: 'running', startRepeated: true, startLate: false, startedAt: 1_000 }],
  ];
  for (const [kinds, expected] of rules) {
    it(`${kinds.join(', ')}: ${expected.state}`, () => {
      expect(outcomeOf(...kinds)).to.include(expected);
    });
  }

  it('keeps executions apart by organization, automation and execution, and counts an id once', () => {
    const event = anEvent();
    const others = [
      { organization: 'globex' },
      { automationId: '0190a0b0-0000-7000-8000-000000000002' },
      { executionId: 'run 2' },
    ];
    const executions = executionsOf([event, event, ...others.map((other) => anEvent(other))]);
    expect(executions.size).to.equal(4);
    expect([...executions.values()].map(({ counts }) => counts.EVENT)).to.deep.equal([1, 1, 1, 1]);
  });

  it('takes automation ids in any letter case for the same', () => {
    const automationId = '0190A0B0-0000-7000-8000-00000000000F';
    const executions = executionsOf([anEvent({ automationId }), anEvent({ automationId: automationId.toLowerCase() })]);
    expect([...executions.values()].map((execution) => execution.automationId)).to.deep.equal([
      automationId.toLowerCase(),
    ]);
  });
});
