import { isThisMachine } from '../../../internal/config/validators.ts';
import { readVerifierKey, readWitnessKey, type VerifierKey } from '../../../internal/ledger/keys.ts';
import { isUrl } from '../../../internal/record/audit/served-log.ts';
import { declare, UsageError, type Arguments } from '../command.ts';
import { databaseSettings } from '../databases-settings.ts';
import { refuseIf, wholeNumberOf } from '../parse.ts';

export const verify = declare({
  summary: 'Checks that nothing in the record was lost, added or changed since it was signed.',
  options: {
    organization: { type: 'string', value: 'ID', text: 'the organization', required: true },
    'public-key': {
      type: 'string',
      value: 'KEY',
      text: 'what `token ledger-key --public` prints; each key that the log ever had',
      multiple: true,
    },
    log: {
      type: 'string',
      value: 'FOLDER|URL',
      text:
        'checks a served log, in place of the one in Postgres: a folder with checkpoint and tile/…, or ' +
        'https://console/v1/log with --read-token-file',
    },
    'read-token-file': { type: 'string', value: 'FILE', text: 'with --log: the read token for a URL' },
    proof: { type: 'string', value: 'FILE', text: 'checks the proof of one event, in place of a log' },
    export: {
      type: 'string',
      value: 'FILE',
      text: 'with --log or --proof: compares an export in Parquet, NDJSON or CSV, too',
    },
    partial: { type: 'boolean', text: 'the export has a filter, so it may lack events' },
    erasures: {
      type: 'string',
      value: 'FILE',
      text: 'with --export: what `erase` printed, since an export lacks what was erased',
      multiple: true,
    },
    checkpoint: {
      type: 'string',
      value: 'FILE|BUCKET',
      text:
        'a checkpoint that you kept: the log must extend it; s3://bucket/prefix of LEDGER_WITNESSES means all in the ' +
        'bucket, with what the SDKs of AWS take: AWS_REGION, AWS_ENDPOINT_URL_S3, …',
      multiple: true,
    },
    state: {
      type: 'string',
      value: 'FILE',
      text:
        'keeps the checkpoint of the last run that found nothing: the next one must extend it. Without it or ' +
        '--checkpoint, who owns the database can show an older log',
    },
    archive: {
      type: 'string',
      value: 'PLACE',
      text: 'a folder or s3://bucket/prefix that `export` wrote: each day that the log knows must be there, unchanged',
    },
    'retention-days': {
      type: 'string',
      value: 'DAYS',
      text: 'reports absent events of the last DAYS days; without it, verify takes a dropped partition for an expired one',
    },
    witness: {
      type: 'string',
      value: 'KEY',
      text: 'this witness must have cosigned the checkpoint',
      multiple: true,
    },
    quorum: { type: 'string', value: 'N', text: 'so many of the witnesses suffice; without it, all must have' },
    'max-age': { type: 'string', value: 'HOURS', text: 'the cosignatures of the witnesses must be younger' },
  },
  settings: databaseSettings,
  checks: true,
  notes: `Without --log and --proof it compares the log in Postgres with its checkpoints, with each event, and executions with their events; reading suffices. NODE_EXTRA_CA_CERTS names a file with the certificate of a private authority.`,
});

/** The validated options of the command, with the keys parsed. */
export type Options = ReturnType<typeof readOptions>;

/** @throws {UsageError} */
export function readOptions(values: Arguments<typeof verify>) {
  const { 'public-key': publicKeys, witness: witnesses, checkpoint: checkpoints, ...rest } = values;
  refuseIf(publicKeys.length === 0, '--public-key is required');
  const { log, proof, partial, erasures } = rest;
  const isAlone = log === undefined && proof === undefined;
  refuseIf(log !== undefined && proof !== undefined, '--log and --proof exclude each other');
  refuseIf(rest.export !== undefined && isAlone, '--export needs --log or --proof');
  refuseIf(checkpoints.length > 0 && proof !== undefined, '--checkpoint and --proof exclude each other');
  refuseIf(rest.state !== undefined && proof !== undefined, '--state and --proof exclude each other');
  refuseIf(rest.archive !== undefined && proof !== undefined, '--archive and --proof exclude each other');
  refuseIf(erasures.length > 0 && rest.export === undefined, '--erasures needs --export');
  refuseIf(partial && (log === undefined || rest.export === undefined), '--partial needs --log and --export');
  const url = log !== undefined && isUrl(log) ? new URL(log) : undefined;
  const hasToken = rest['read-token-file'] !== undefined;
  refuseIf(url !== undefined && !hasToken, '--log with a URL needs --read-token-file');
  refuseIf(url === undefined && hasToken, '--read-token-file needs --log with a URL');
  refuseIf(url?.protocol === 'http:' && !isThisMachine(url), 'http:// would send the token in clear: use https://');
  const numberOf = (name: 'retention-days' | 'max-age' | 'quorum'): number | undefined => {
    const text = rest[name];
    return text === undefined ? undefined : wholeNumberOf(name, text);
  };
  const [retentionDays, hours, quorum] = [numberOf('retention-days'), numberOf('max-age'), numberOf('quorum')];
  refuseIf(hours !== undefined && witnesses.length === 0, '--max-age needs --witness: only a witness proves a time');
  refuseIf((quorum ?? 0) > witnesses.length, '--quorum is more than there are of --witness');
  refuseIf(retentionDays !== undefined && !isAlone, '--retention-days needs Postgres: it excludes --log and --proof');
  return {
    ...rest,
    publicKeys: publicKeys.map((text) => readKey('--public-key', text, readVerifierKey)),
    witnesses: witnesses.map((text) => readKey('--witness', text, readWitnessKey)),
    quorum: quorum ?? witnesses.length,
    maxAgeMs: hours === undefined ? undefined : hours * 3_600_000,
    checkpoints,
    retentionDays,
  };
}

function readKey(option: string, text: string, read: (text: string) => VerifierKey): VerifierKey {
  try {
    return read(text);
  } catch (error) {
    if (text.startsWith('PRIVATE+KEY+')) throw new UsageError(`${option} has a private key: give the public one`);
    const fault = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${option} ${text} ${fault}`, { cause: error });
  }
}
