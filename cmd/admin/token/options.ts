import { declare } from '../command.ts';

const organization = { type: 'string', value: 'ID', text: 'the organization', required: true } as const;
const namespace = { type: 'string', value: 'NAMESPACE', text: 'of the Secret; that of kubectl unless given' } as const;

export const createToken = declare({
  summary: 'Makes a token, and prints it and nothing else.',
  options: {
    read: { type: 'boolean', text: 'a read token: it reads the record, and records no events' },
    ping: { type: 'boolean', text: 'a ping key: it serves in addresses under /ping/, and nowhere else' },
    manage: { type: 'boolean', text: 'a manage token: it changes tokens and declarations over the API' },
  },
  settings: [],
  notes: 'Keep it in a file for its owner. The other commands read it from standard input and print its digest only.',
});

export const tokenSecret = declare({
  summary: 'Reads a token, and prints the Secret of an organization with its digest.',
  options: {
    organization,
    namespace,
    name: { type: 'string', value: 'NAME', text: 'of the Secret; runledger-ORGANIZATION unless given' },
    label: {
      type: 'string',
      value: 'KEY[=VALUE]',
      text: 'a label of the Secret, with the organization as its value; runledger.dev/organization unless given',
      multiple: true,
    },
  },
  settings: [],
  notes:
    'For `kubectl create --filename -`. Tokens of other scopes get Secrets of their own: runledger-ORGANIZATION.read, .ping and .manage.',
});

export const rotateToken = declare({
  summary: 'Reads a token, and prints the patch that adds it to a Secret.',
  options: {},
  settings: [],
  notes: 'For `kubectl patch secret NAME --patch`. The tokens that the Secret has stay valid until you revoke them.',
});

export const revokeToken = declare({
  summary: 'Reads a Secret, and prints the patch that takes a token out of it.',
  options: {
    fingerprint: {
      type: 'string',
      value: 'DIGITS',
      text: 'the first digits of the SHA-256 of the token, 12 or more: `token verify` prints them',
      required: true,
    },
  },
  settings: [],
  notes:
    'For `kubectl patch secret NAME --patch`. Standard input has what `kubectl get secret NAME --output yaml` prints.',
});

export const verifyToken = declare({
  summary: 'Reads a token, and says whose it is and what it may do.',
  options: {
    manifest: { type: 'string', value: 'FILE', text: 'the manifests of the Secrets', required: true },
    label: {
      type: 'string',
      value: 'KEY',
      text: 'the label that names the organization; runledger.dev/organization unless given',
    },
  },
  settings: [],
  checks: true,
  notes: 'By the rules of ingest: it lists the Secrets that ingest refuses, too. Exit code 1: the token is of nobody.',
});

export const ledgerKey = declare({
  summary: 'Makes a key that signs the log, and derives from it what others need.',
  options: {
    'log-name': {
      type: 'string',
      value: 'NAME',
      text: 'makes a key of this name, such as log.example.org, and prints it',
    },
    public: { type: 'boolean', text: 'reads a key, and prints its public key, for --public-key of verify' },
    'mac-key': {
      type: 'boolean',
      text: 'reads a key, and prints LEDGER_MAC_KEY, by which erase, export and seal write',
    },
    'act-key': {
      type: 'boolean',
      text: 'reads a key, and prints LEDGER_MAC_KEY of controllers and consoles: it writes acts only',
    },
    secret: { type: 'boolean', text: 'reads a key, and prints a Secret with it and both of LEDGER_MAC_KEY' },
    namespace,
    name: { type: 'string', value: 'NAME', text: 'of the Secret; runledger-ledger-key unless given' },
    'public-key': {
      type: 'string',
      value: 'KEY',
      text: 'with --organization: prints the public key of its log, for other programs that verify it',
    },
    organization: { type: 'string', value: 'ID', text: 'the organization' },
  },
  settings: [],
  notes: 'One of --log-name, --public, --mac-key, --act-key, --secret and --public-key is required.',
});
