import { parseArgs } from 'node:util';
import { runMain } from '../../internal/lifecycle/main.ts';
import { DemoError, runDemo } from './demo.ts';

const usage = `Plays a fleet of automations against a running Runledger and checks what the database holds afterwards.

  --url URL        the API (https://localhost:8443)
  --ops URL        its ops port, where standalone shows /outcomes (http://localhost:9090)
  --token-file F   where the token is (.data/demo-token)
  --events N       how many events, about (2000)
  --rate N         events a second; 0 is as fast as it goes (200)
  --clients N      automations that report at once (50)
`;

runMain(async () => {
  const { values } = parseArgs({
    options: {
      url: { type: 'string', default: 'https://localhost:8443' },
      ops: { type: 'string', default: 'http://localhost:9090' },
      'token-file': { type: 'string', default: '.data/demo-token' },
      events: { type: 'string', default: '2000' },
      rate: { type: 'string', default: '200' },
      clients: { type: 'string', default: '50' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const right = await runDemo({
    api: values.url,
    ops: values.ops,
    tokenFile: values['token-file'],
    events: wholeNumber('--events', values.events),
    rate: wholeNumber('--rate', values.rate),
    clients: wholeNumber('--clients', values.clients),
  });
  process.exitCode = right ? 0 : 1;
});

function wholeNumber(option: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new DemoError(`${option} must be a whole number, not ${text}`);
}
