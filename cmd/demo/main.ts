import { parseArgs } from 'node:util';
import { runMain } from '../../internal/kit/lifecycle/main.ts';
import { runDemo } from './demo.ts';
import { DemoError } from './reach.ts';

const usage = `Plays a fleet of automations against a running Runledger and checks what the console shows afterwards.

  --url URL            the API (https://localhost:8443)
  --console URL        the console (https://localhost:8444)
  --token-file F       where the token is (.data/demo-token)
  --read-token-file F  where the read token is (.data/demo-read-token)
  --automations-file F where the declarations are (.data/automations.yaml)
  --events N           how many events, about (2000)
  --rate N             events a second; 0 is as fast as it goes (200)
  --clients N          automations that report at once (50)
`;

runMain(async () => {
  const { values } = parseArgs({
    options: {
      url: { type: 'string', default: 'https://localhost:8443' },
      console: { type: 'string', default: 'https://localhost:8444' },
      'token-file': { type: 'string', default: '.data/demo-token' },
      'read-token-file': { type: 'string', default: '.data/demo-read-token' },
      'automations-file': { type: 'string', default: '.data/automations.yaml' },
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
    console: values.console,
    tokenFile: values['token-file'],
    readTokenFile: values['read-token-file'],
    automationsFile: values['automations-file'],
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
