// The test of `helm test`: ingest redirects plain HTTP, knows the token and accepts events.
const { HTTP_URL, HTTPS_URL, TOKEN, FORWARDED_PROTO } = process.env;
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

// Helm created the organization a moment ago: ingest sees it after a second or two.
async function untilKnown(request) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await request().catch((error) => ({ status: 0, text: async () => String(error.cause ?? error) }));
    if (response.status === 200 || attempt === 60) return response;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

const event = {
  automation_id: crypto.randomUUID(),
  execution_id: `helm-test-${new Date().toISOString()}`,
  event: 'START',
  description: 'helm test',
};

if (HTTP_URL) {
  const redirect = await expectStatus('POST over plain HTTP', 301, () =>
    fetch(`${HTTP_URL}/v1/register/`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
    }),
  );
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
