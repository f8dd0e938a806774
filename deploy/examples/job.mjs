#!/usr/bin/env node
// Reports a Node job with fetch alone: START, then END, or ERROR and END.
//
//   RUNLEDGER_URL=https://… RUNLEDGER_TOKEN=… AUTOMATION=<uuid> node job.mjs
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const { RUNLEDGER_URL, RUNLEDGER_TOKEN, AUTOMATION } = process.env;

/** Runs the work, and reports it. Ends as the work ends. */
export async function reported(automation, work, execution = randomUUID()) {
  await report(automation, execution, 'START');
  try {
    return await work();
  } catch (error) {
    const texts = { error_id: error.code ?? error.name, error_description: String(error.stack).slice(-10_000) };
    await report(automation, execution, 'ERROR', texts);
    throw error;
  } finally {
    await report(automation, execution, 'END');
  }
}

/** Tries three times with one Idempotency-Key, so that the event is recorded once. */
async function report(automation_id, execution_id, event, texts = {}) {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${RUNLEDGER_TOKEN}`,
    'idempotency-key': randomUUID(),
  };
  const body = JSON.stringify({ automation_id, execution_id, event, ...texts });
  for (const pause of [1_000, 2_000, undefined]) {
    try {
      const request = { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) };
      const answer = await fetch(`${RUNLEDGER_URL}/v1/register/`, request);
      if (answer.ok) return;
      throw new Error(`${answer.status} ${await answer.text()}`);
    } catch (error) {
      if (pause === undefined) console.error(`not reported: ${event}:`, error.message);
      else await sleep(pause);
    }
  }
}

await reported(AUTOMATION, () => {
  console.log('Backing up');
});
