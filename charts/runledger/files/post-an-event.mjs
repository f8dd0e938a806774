// The test of `helm test`: ingest redirects plain HTTP, knows the token and accepts events; the
// console shows their execution.
import { readFileSync } from 'node:fs';

const { HTTP_URL, HTTPS_URL, TOKEN_FILE, FORWARDED_PROTO } = process.env;
const { CONSOLE_URL, READ_TOKEN_FILE, CONSOLE_FORWARDED_PROTO } = process.env;
const TOKEN = readFileSync(TOKEN_FILE, 'utf8');
const headers = {
  token: TOKEN,
  'content-type': 'application/json',
  ...(FORWARDED_PROTO && { 'x-forwarded-proto': FORWARDED_PROTO }),
};

async function expectStatus(what, expected, request) {
  const response = await request();
  const body = await response.text();
  if (response.status !== expected) throw new Error(`${what}: expected ${expected}, got ${response.status} ${body}`);
  console.log(`ok: ${what}: ${response.status}`);
  return { response, body };
}

// Helm created the organization a moment ago: ingest and console see it after a second or two. A
// worker stores the events after a moment too.
async function untilKnown(request, good = async () => true) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await request().catch((error) => new Response(String(error.cause ?? error), { status: 599 }));
    if ((response.status === 200 && (await good(response.clone()))) || attempt === 60) return response;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

// A network policy may admit a new pod only after a moment.
async function untilAnswered(request) {
  for (let attempt = 1; attempt < 20; attempt += 1) {
    const response = await request().catch(() => undefined);
    if (response !== undefined) return response;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return request();
}

const event = {
  automation_id: crypto.randomUUID(),
  execution_id: `helm-test-${new Date().toISOString()}`,
  event: 'START',
  description: 'helm test',
};

if (HTTP_URL) {
  const plain = () =>
    fetch(`${HTTP_URL}/v1/register/`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
    });
  const redirect = await expectStatus('POST over plain HTTP', 301, () => untilAnswered(plain));
  const location = redirect.response.headers.get('location') ?? '';
  if (!/^https:\/\/.+\/v1\/register\/$/.test(location)) throw new Error(`redirect leads to ${location}`);
} else {
  console.log('skipped: POST over plain HTTP: it has no known address here');
}

await expectStatus('ping over HTTPS', 200, () => untilKnown(() => fetch(`${HTTPS_URL}/v1/ping/`, { headers })));

const post = (kind) => {
  const body = JSON.stringify({ ...event, event: kind });
  return fetch(`${HTTPS_URL}/v1/register/`, { method: 'POST', headers, body });
};
const recorded = await expectStatus('event over HTTPS', 201, async () => {
  const start = await post('START');
  if (start.status !== 201) return start;
  await start.text();
  // An execution without an END would count as overdue for good.
  return post('END');
});
if (JSON.parse(recorded.body).execution_id !== event.execution_id) throw new Error(`not the event: ${recorded.body}`);

if (CONSOLE_URL) {
  const query = new URLSearchParams({ automation_id: event.automation_id, execution_id: event.execution_id });
  const readHeaders = {
    token: readFileSync(READ_TOKEN_FILE, 'utf8'),
    ...(CONSOLE_FORWARDED_PROTO && { 'x-forwarded-proto': CONSOLE_FORWARDED_PROTO }),
  };
  const read = () => fetch(`${CONSOLE_URL}/v1/executions/?${query}`, { headers: readHeaders });
  const succeeded = async (response) => (await response.json()).items[0]?.state === 'succeeded';
  const shown = await expectStatus('execution from the console', 200, () => untilKnown(read, succeeded));
  if (!(await succeeded(new Response(shown.body)))) throw new Error(`not the execution: ${shown.body}`);
}
