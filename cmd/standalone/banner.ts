import { shown } from './shown-path.ts';
import type { DataFolder } from './data-folder.ts';
import type { Addresses } from './standalone.ts';

/**
 * The text for the person who started Runledger: addresses, and a request to paste. Ends with the
 * line `ready`.
 */
export function banner(folder: DataFolder, addresses: Addresses | undefined, listening?: string): string {
  if (addresses === undefined) return '';
  const { api, plainHttp, console, login, ops } = addresses;
  const certificate = shown(folder.certificate);
  const token = shown(folder.demoToken);
  const readToken = shown(folder.demoReadToken);
  return `
  Runledger keeps the record of your automations' runs.

    API       ${api}            (certificate ${certificate})
    http      ${plainHttp}             (301 to the API)
    console   ${console}            (web pages and the read API, same certificate)
    ops       ${ops}             (/metrics /healthz /readyz)
    data      ${shown(folder.root)}

  ${reach(listening)}

  Open the console (the link logs in once, within 15 minutes):

    ${login}

  Register an event:

    curl -w '\\n' --cacert ${certificate} ${api}/v1/register/ \\
      -H "token: $(cat ${token})" -H 'Content-Type: application/json' \\
      -d '{"automation_id":"0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11","execution_id":"run-1","event":"START"}'

  Read it:

    curl -w '\\n' --cacert ${certificate} '${console}/v1/executions/?limit=10' \\
      -H "token: $(cat ${readToken})"

  Play a fleet of automations:       ${demoCommand(folder, addresses)}
  Stop:                              Ctrl-C

ready ${api}
`;
}

/** One sentence on who can reach the ports. */
function reach(listening: string | undefined): string {
  if (listening === undefined || /^(0\.0\.0\.0|::)$/.test(listening)) return 'Every port is open to the network.';
  if (!/^(127\.|::1$)/.test(listening)) return `Every port listens on ${listening}.`;
  return 'Only this machine can connect. LISTEN_ADDRESS=0.0.0.0 opens every port to the network.';
}

/** The `make demo` command, with the variables that it needs to find this Runledger. */
function demoCommand(folder: DataFolder, { api, console }: Addresses): string {
  const places = [
    ['DATA_DIR', shown(folder.root), '.data'],
    ['HTTPS_PORT', new URL(api).port, '8443'],
    ['CONSOLE_PORT', new URL(console).port, '8444'],
  ];
  const elsewhere = places.filter(([, place, usual]) => place !== usual);
  return ['make demo', ...elsewhere.map(([name, place]) => `${name}=${place}`)].join(' ');
}
