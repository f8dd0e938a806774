import { parseOptions, UsageError } from '../../internal/config/arguments.ts';
import { isThisMachine } from '../../internal/config/validators.ts';
import { readVerifierKey, readWitnessKey, type VerifierKey } from '../../internal/ledger/keys.ts';
import { isUrl } from './served-log.ts';

/** The answer to `--help`. */
export const usage = `Checks that nothing in the record was lost, added or changed since it was signed.

  verify --public-key KEY --organization ID [--retention-days DAYS] [--checkpoint FILE|BUCKET …]
      Compares the log in Postgres with its checkpoints, with each event, and executions with their events.
      DATABASE_URL or DATABASE_URL_FILE has the address, DATABASE_URLS those of other databases; reading suffices.
  verify --public-key KEY --organization ID --log FOLDER|URL [--export FILE [--partial] [--erasures FILE]] [--checkpoint FILE|BUCKET …]
      Compares a served log (a folder with checkpoint and tile/…, or https://console/v1/log) with its checkpoint,
      and with an export in Parquet, NDJSON or CSV. A URL needs --read-token-file FILE; NODE_EXTRA_CA_CERTS names a file
      with the certificate of a private authority.
  verify --public-key KEY --organization ID --proof FILE [--export FILE [--erasures FILE]]
      Checks the proof of one event. With --export, also compares the event in that file.

  --public-key KEY    what \`token ledger-key\` printed; repeat it for each key that the log ever had
  --checkpoint FILE   a checkpoint that you kept: the log must extend it; s3://bucket/prefix of LEDGER_WITNESSES
                      means all in the bucket, with what the SDKs of AWS take: AWS_REGION, AWS_ENDPOINT_URL_S3, …
  --state FILE        keeps the checkpoint of the last run that found nothing: the next one must extend it. Without
                      it or --checkpoint, who owns the database can show an older log
  --archive PLACE     a folder or s3://bucket/prefix that \`export\` wrote: each day that the log knows must be there, unchanged
  --retention-days DAYS
                      reports absent events of the last DAYS days; without it, verify takes a dropped partition
                      for an expired one
  --witness KEY       this witness must have cosigned the checkpoint; several times
  --quorum N          so many of the witnesses suffice; without it, all must have
  --max-age HOURS     the cosignatures of the witnesses must be younger
  --erasures FILE     with --export: what \`erase\` printed, since an export lacks what was erased; several times
  --partial           the export has a filter, so it may lack events

Exit code 0: nothing was lost, added or changed. 1: something was. 2: it could not be checked.
`;

/** The options of the command, checked and with their keys read. */
export type Options = ReturnType<typeof readOptions>;

/** @throws {UsageError} */
export function readOptions(args: string[]) {
  const values = parseOptions(args, {
    'public-key': { type: 'string', multiple: true },
    organization: { type: 'string' },
    checkpoint: { type: 'string', multiple: true },
    'retention-days': { type: 'string' },
    'max-age': { type: 'string' },
    quorum: { type: 'string' },
    state: { type: 'string' },
    archive: { type: 'string' },
    witness: { type: 'string', multiple: true },
    log: { type: 'string' },
    export: { type: 'string' },
    proof: { type: 'string' },
    'read-token-file': { type: 'string' },
    erasures: { type: 'string', multiple: true },
    partial: { type: 'boolean', default: false },
  });
  const { 'public-key': publicKeys = [], witness: witnesses = [], checkpoint: checkpoints = [], ...rest } = values;
  const { organization } = rest;
  if (publicKeys.length === 0) throw new UsageError('--public-key is required');
  if (organization === undefined) throw new UsageError('--organization is required');
  const { log, proof, partial, 'retention-days': days } = rest;
  const refuse = (isWrong: boolean, message: string): void => {
    if (isWrong) throw new UsageError(message);
  };
  const isAlone = log === undefined && proof === undefined;
  refuse(log !== undefined && proof !== undefined, '--log and --proof exclude each other');
  refuse(rest.export !== undefined && isAlone, '--export needs --log or --proof');
  refuse(checkpoints.length > 0 && proof !== undefined, '--checkpoint and --proof exclude each other');
  refuse(rest.state !== undefined && proof !== undefined, '--state and --proof exclude each other');
  refuse(rest.archive !== undefined && proof !== undefined, '--archive and --proof exclude each other');
  refuse(rest.erasures !== undefined && rest.export === undefined, '--erasures needs --export');
  refuse(partial && (log === undefined || rest.export === undefined), '--partial needs --log and --export');
  const url = log !== undefined && isUrl(log) ? new URL(log) : undefined;
  const hasToken = rest['read-token-file'] !== undefined;
  refuse(url !== undefined && !hasToken, '--log with a URL needs --read-token-file');
  refuse(url === undefined && hasToken, '--read-token-file needs --log with a URL');
  refuse(url?.protocol === 'http:' && !isThisMachine(url), 'http:// would send the token in clear: use https://');
  const { 'max-age': hours, quorum } = rest;
  for (const name of ['retention-days', 'max-age', 'quorum'] as const) {
    const number = rest[name];
    refuse(number !== undefined && !/^[1-9]\d{0,4}$/.test(number), `--${name} must be a whole number above 0`);
  }
  refuse(hours !== undefined && witnesses.length === 0, '--max-age needs --witness: only a witness proves a time');
  const most = Number(quorum ?? witnesses.length);
  refuse(quorum !== undefined && most > witnesses.length, '--quorum is more than there are of --witness');
  refuse(days !== undefined && !isAlone, '--retention-days needs Postgres: it excludes --log and --proof');
  const retentionDays = days === undefined ? undefined : Number(days);
  return {
    ...rest,
    organization,
    publicKeys: publicKeys.map((text) => readKey('--public-key', text, readVerifierKey)),
    witnesses: witnesses.map((text) => readKey('--witness', text, readWitnessKey)),
    quorum: most,
    maxAgeMs: hours === undefined ? undefined : Number(hours) * 3_600_000,
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
