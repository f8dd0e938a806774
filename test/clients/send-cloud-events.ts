/** Sends CloudEvents to the address in the arguments, in binary and structured mode. */
import { CloudEvent, emitterFor, httpTransport, Mode } from 'cloudevents';

const [url = '', automation_id = ''] = process.argv.slice(2);
const headers = { authorization: `Bearer ${process.env['TOKEN'] ?? ''}` };
const transport = httpTransport(url);

for (const [mode, third] of [
  [Mode.BINARY, 'event'],
  [Mode.STRUCTURED, 'error'],
] as const) {
  const emit = emitterFor(transport, { mode });
  for (const kind of ['start', third, 'end']) {
    const data = { automation_id, execution_id: mode, description: 'from JavaScript' };
    const event = new CloudEvent({ source: 'urn:test:javascript', type: `dev.runledger.${kind}`, data });
    // A repeated delivery is recorded once.
    for (let delivery = 0; delivery < 2; delivery += 1) await emit(event, { headers });
  }
}
