import { addressesForServers } from '../../../cmd/admin/move/addresses.ts';
import { s3Credentials, wholeAddress } from '../../../internal/config/credentials.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { drainedAddresses, readerRedisSettings, takingShards } from '../../../internal/wiring/redis.ts';
import { namedUrls } from '../../../internal/config/named-urls.ts';
import { ConfigError, readConfig } from '../../../internal/config/read.ts';
import { tuning, type TuningName } from '../../../internal/config/tuning.ts';
import { settings, type SettingName } from '../../../internal/config/settings.ts';

/** The one line that a wrong setting ends the process with. */
function complaint(name: SettingName | TuningName, environment: Record<string, string>): string {
  try {
    readConfig([name], environment);
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    const { message } = error as ConfigError;
    expect(message).to.match(/^[^\n]+$/);
    return message;
  }
  return expect.fail(`took ${JSON.stringify(environment)}`);
}

const whole = (Object.keys(settings) as SettingName[]).filter((name) =>
  /(PORT|_MS|_BYTES|_EVENTS|_LENGTH|_MAX_JOBS|_SIZE|_DAYS|_IN_FLIGHT|_CONCURRENCY|_CONNECTIONS|_RATE|_TOKEN|_SECOND|_MINUTES|_HOURS|_ACKS)$/.test(
    name,
  ),
);

describe('settings', () => {
  it('have defaults where they can, which are valid themselves', () => {
    const required = new Set<SettingName>(['PUBLIC_URL', 'CONSOLE_PUBLIC_URL', 'REDIS_URL', 'DATABASE_URL']);
    const names = (Object.keys(settings) as SettingName[]).filter((name) => !required.has(name));
    const config = readConfig(names, {});
    const written = Object.entries(config).filter(([, value]) => value !== undefined);
    const again = readConfig(names, Object.fromEntries(written.map(([name, value]) => [name, String(value)])));
    expect({ ...again }).to.deep.equal({ ...config });
  });

  for (const name of ['PUBLIC_URL', 'CONSOLE_PUBLIC_URL', 'REDIS_URL', 'DATABASE_URL'] as const) {
    it(`are required where they have none: ${name}, absent or empty`, () => {
      expect(complaint(name, {})).to.match(new RegExp(`^${name} is required: .`));
      expect(complaint(name, { [name]: '' })).to.equal(complaint(name, {}));
    });
  }

  for (const name of whole) {
    it(`are whole numbers within bounds: ${name}`, () => {
      for (const value of ['x', '-1', '1.5', '1e3', ' 1', '0x10', '99999999999999999999', 'NaN']) {
        expect(complaint(name, { [name]: value })).to.match(
          new RegExp(`^${name} must be a whole number from \\d+ to \\d+$`),
        );
      }
    });
  }

  for (const [name, value, message] of [
    ['PUBLIC_URL', 'http://runledger.example', /must be an https:\/\/ address/],
    ['PUBLIC_URL', 'runledger.example', /must be an https:\/\/ address/],
    ['PUBLIC_URL', 'https://x.example/?a=b', /without user, query or fragment/],
    ['PUBLIC_URL', 'https://x.example/#a', /without user, query or fragment/],
    ['PUBLIC_URL', 'https://user@x.example', /without user, query or fragment/],
    ['PUBLIC_URL', 'https://:hunter2@x.example', /without user, query or fragment/],
    ['TRUST_PROXY', 'yes', /must be true or false/],
    ['TRUST_PROXY', 'TRUE', /must be true or false/],
    ['CAPTURE_JOBS', 'all', /must be true or false/],
    ['OTEL_TRACES_SAMPLER_ARG', '0', /must be a number greater than 0 and up to 1/],
    ['OTEL_TRACES_SAMPLER_ARG', '1.1', /must be a number greater than 0 and up to 1/],
    ['AUTOMATIONS_NAMESPACES', 'acme,Globex', /must be names of namespaces/],
    ['QUEUE_NAME', 'a:b', /must be 1 to 64 letters/],
    ['ARCHIVE_URL', 'https://:hunter2@s3.example', /must be s3:\/\/bucket\/prefix or file:\/\/\/folder$/],
    ['ARCHIVE_URL', 's3://key:hunter2@bucket', /must be s3:\/\/bucket\/prefix or file:\/\/\/folder$/],
    ['ARCHIVE_URL', 's3:///bucket', /must be s3:\/\/bucket\/prefix or file:\/\/\/folder$/],
    ['ARCHIVE_URL', 'file://host/folder', /must be s3:\/\/bucket\/prefix or file:\/\/\/folder$/],
    ['LEDGER_WITNESSES', 's3://bucket/prefix', /must be file:.* s3:\/\/bucket\/prefix\?days=N, https:/],
    ['LEDGER_WITNESSES', 's3://bucket?days=0', /must be file:.* s3:\/\/bucket\/prefix\?days=N, https:/],
    ['LEDGER_WITNESSES', 's3://bucket?days=36501', /must be file:.* s3:\/\/bucket\/prefix\?days=N, https:/],
    ['LEDGER_WITNESSES', 's3://:hunter2@bucket?days=1', /must be file:.* s3:\/\/bucket\/prefix\?days=N, https:/],
    ['LOG_LEVEL', 'verbose', /must be one of \[.*info.*\]$/],
    ['LOG_LEVEL', 'in\nfo', /must be one of \[.*info.*\]$/],
    ['REDIS_URL', 'http://:hunter2@redis', /must be a redis:\/\/ or rediss:\/\/ address/],
    ['REDIS_URL', 'redis+sentinel://:hunter2@s:26379', /must not name a Redis Sentinel: .* REDIS_SENTINELS/],
    ['REDIS_SENTINELS', 's-0:26379,redis://:hunter2@s-1', /must be host:port of each Sentinel/],
    ['REDIS_SENTINELS', 'hunter2@s-0:26379', /must be host:port of each Sentinel/],
    ['REDIS_URL', 'redis://a,hunter2', /must be a redis:\/\/ or rediss:\/\/ address/],
    ['REDIS_URL', 'redis://:hunter2@redis/acme', /must name a database by its number/],
    ['REDIS_URL', 'redis://:hunter2@a/1,redis://:hunter2@b/1', /must not name a database other than 0/],
    ['REDIS_URL', 'hunter2', /must be a redis:\/\/ or rediss:\/\/ address/],
    ['CONSOLE_PUBLIC_URL', 'http://runledger.example', /must be an https:\/\/ address/],
    ['CONSOLE_DATABASE_URL', 'mysql://u:hunter2@db/x', /must be a postgres:\/\/ or postgresql:\/\/ address/],
    ['DATABASE_URLS', 'postgres://u:hunter2@db/x', /must be name=postgres:\/\/… entries/],
    ['DATABASE_URLS', 'first=postgres://u:hunter2@db/x', /must not use the name first/],
    ['CONSOLE_DATABASE_URLS', 'eu=postgres://u:hunter2@a/x eu=postgres://b/x', /must not use a name twice/],
    ['OIDC_ISSUER', 'http://login.example', /must be an https:\/\/ address/],
    ['OIDC_ISSUER', 'http://127.0.0.1.evil.example', /must be an https:\/\/ address/],
    ['OIDC_ISSUER', 'https://u:hunter2@login.example', /must be an https:\/\/ address without user/],
    ['OIDC_SCOPES', 'profile email', /must hold the scope openid$/],
    ['DATABASE_URL', 'mysql://u:hunter2@db/x', /must be a postgres:\/\/ or postgresql:\/\/ address/],
    ['DATABASE_URL', 'postgres://u:hunter2@db:port/x', /must be a postgres:\/\/ or postgresql:\/\/ address/],
  ] as const) {
    it(`that are wrong are named in one line, without a secret: ${name}=${JSON.stringify(value)}`, () => {
      const line = complaint(name, { [name]: value });
      expect(line).to.match(message);
      expect(line.startsWith(`${name} `)).to.equal(true);
      expect(line).to.not.contain('hunter2');
    });
  }

  it('change constants by TUNING alone', () => {
    const names = ['JOB_LOCK_MS', 'FAST_PATH'] as const;
    const given = { TUNING: ' JOB_LOCK_MS=1000\nFAST_PATH=false ', JOB_LOCK_MS: '2000' };
    expect({ ...readConfig(names, given) }).to.deep.equal({ JOB_LOCK_MS: 1_000, FAST_PATH: false });
    expect({ ...readConfig(names, { JOB_LOCK_MS: '2000' }) }).to.deep.equal({ JOB_LOCK_MS: 15_000, FAST_PATH: true });
    expect(complaint('JOB_LOCK_MS', { TUNING: 'JOB_LOCK_MS=1' })).to.match(/^JOB_LOCK_MS must be a whole number/);
    expect(complaint('JOB_LOCK_MS', { TUNING: 'PORT=1' })).to.match(/^TUNING has no constant PORT;/);
    expect(readConfig(Object.keys(tuning) as TuningName[], {})).to.deep.include({ WORKER_CONCURRENCY: 100 });
  });

  it('name further databases, in any white space', () => {
    const { DATABASE_URLS: value } = readConfig(['DATABASE_URLS'], {
      DATABASE_URLS: ' eu=postgres://u:p=w@db/x\n big-1=postgresql://db ',
    });
    expect([...namedUrls(value)]).to.deep.equal([
      ['eu', 'postgres://u:p=w@db/x'],
      ['big-1', 'postgresql://db'],
    ]);
    expect(namedUrls(undefined).size).to.equal(0);
  });

  it('keep a base path and a cluster list as they are', () => {
    const config = readConfig(['PUBLIC_URL', 'REDIS_URL'], {
      PUBLIC_URL: 'https://x.example:8443/base',
      REDIS_URL: 'rediss://:pw@a:6379, rediss://b:6379',
    });
    expect(config.PUBLIC_URL.href).to.equal('https://x.example:8443/base');
    expect(config.REDIS_URL).to.deep.equal(['rediss://:pw@a:6379, rediss://b:6379']);
  });
});

describe('the shards of the queue in REDIS_URL', () => {
  const names = ['REDIS_URL', 'REDIS_DRAIN_URL', 'REDIS_PASSWORD'] as const;

  it('are separated by spaces; each may be a cluster, and gets the credentials', () => {
    const config = readConfig(names, {
      REDIS_URL: ' redis://a:6379  redis://b, redis://c ,redis://d\nredis://e/1 ',
      REDIS_DRAIN_URL: 'redis://f',
      REDIS_PASSWORD: 'pw',
    });
    const cluster = 'redis://:pw@b,redis://:pw@c,redis://:pw@d';
    expect(config.REDIS_URL).to.deep.equal(['redis://:pw@a:6379', cluster, 'redis://:pw@e/1']);
    expect(config.REDIS_DRAIN_URL).to.deep.equal(['redis://:pw@f']);
    expect(readConfig(names, { REDIS_URL: '/a folder/redis.sock' }).REDIS_URL).to.deep.equal(['/a folder/redis.sock']);
  });

  it('differ', () => {
    expect(complaint('REDIS_URL', { REDIS_URL: 'redis://a redis://a' })).to.match(/must not name the same Redis twice/);
    const twice = readConfig(readerRedisSettings, { REDIS_URL: 'redis://a', REDIS_DRAIN_URL: 'redis://a' });
    expect(() => drainedAddresses(twice)).to.throw(ConfigError, /^REDIS_DRAIN_URL must not name a Redis of REDIS_URL/);
  });
});

describe('QUEUE_SHARDS', () => {
  const names = [...readerRedisSettings, 'QUEUE_NAME'] as const;
  const shards = (settings: Record<string, string>) => takingShards(readConfig(names, settings));

  it('names the shards inside each Redis or Redis Cluster, neighbours in different ones', () => {
    const found = shards({ REDIS_URL: 'redis://u:pw@a:6379,redis://b redis://c', QUEUE_SHARDS: '2', QUEUE_NAME: 'q' });
    expect(found.map(({ queueName, label }) => [queueName, label])).to.deep.equal([
      ['q', 'a:6379,b'],
      ['q', 'c'],
      ['q+shard-1', 'a:6379,b+shard-1'],
      ['q+shard-1', 'c+shard-1'],
    ]);
  });

  it('is 1 unless set', () => {
    expect(shards({ REDIS_URL: 'redis://a' })).to.have.length(1);
    for (const count of ['0', '17', '1.5']) {
      expect(complaint('QUEUE_SHARDS', { QUEUE_SHARDS: count })).to.match(/QUEUE_SHARDS/);
    }
  });
});

describe('settings from files', () => {
  let folder: string;
  let file: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-config-'));
    file = join(folder, 'url');
  });
  after(() => rm(folder, { recursive: true }));

  it('hold the secret, with the line break that editors leave', async () => {
    await writeFile(file, 'redis://:hunter2@redis\n');
    expect(readConfig(['REDIS_URL'], { REDIS_URL_FILE: file }).REDIS_URL).to.deep.equal(['redis://:hunter2@redis']);
    expect(readConfig(['REDIS_URL'], { REDIS_URL: '', REDIS_URL_FILE: file }).REDIS_URL.join('')).to.contain('hunter2');
  });

  it('are named with what is wrong, without their content', async () => {
    expect(complaint('REDIS_URL', { REDIS_URL_FILE: join(folder, 'none') })).to.match(
      /^REDIS_URL_FILE .*none \(ENOENT\)$/,
    );
    expect(complaint('REDIS_URL', { REDIS_URL_FILE: folder })).to.match(/^REDIS_URL_FILE .*\(EISDIR\)$/);
    await writeFile(file, ' \n');
    expect(complaint('REDIS_URL', { REDIS_URL_FILE: file })).to.match(/^REDIS_URL_FILE names an empty file/);
    await writeFile(file, 'mysql://:hunter2@db');
    const line = complaint('DATABASE_URL', { DATABASE_URL_FILE: file });
    expect(line).to.match(/^DATABASE_URL must be/);
    expect(line).to.not.contain('hunter2');
  });

  it('may not be given beside the setting itself', () => {
    const line = complaint('REDIS_URL', { REDIS_URL: 'redis://:hunter2@redis', REDIS_URL_FILE: file });
    expect(line).to.equal('REDIS_URL and REDIS_URL_FILE are both set: set one of them');
  });

  it('are not read by a process that has no use for them', () => {
    expect(readConfig(['PORT'], { DATABASE_URL_FILE: join(folder, 'none') }).PORT).to.equal(8080);
  });
});

describe("Postgres' credentials in files", () => {
  let folder: string;
  const inFile = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-config-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('go to the addresses that lack them, with any character', async () => {
    const files = {
      PGUSER_FILE: await inFile('user', 'a:b'),
      PGPASSWORD_FILE: await inFile('password', 'p@ss/w#rd?%41\n'),
    };
    const url = (text: string): string => readConfig(['DATABASE_URL'], { DATABASE_URL: text, ...files }).DATABASE_URL;
    expect(url('postgres://pg:5432/runledger?options=-c%20jit=off')).to.equal(
      'postgres://a%3Ab:p%40ss%2Fw%23rd%3F%2541@pg:5432/runledger?options=-c%20jit=off',
    );
    expect(url('postgres://own:secret@pg/runledger')).to.equal('postgres://own:secret@pg/runledger');
    expect(url('postgres://own@pg/runledger')).to.equal('postgres://own:p%40ss%2Fw%23rd%3F%2541@pg/runledger');
    const ofSocket = new URL(url('postgres:///runledger?host=/run/postgresql')).searchParams;
    expect([ofSocket.get('user'), ofSocket.get('password')]).to.deep.equal(['a:b', 'p@ss/w#rd?%41']);
  });

  it('and the TLS mode of libpq are in the address that another server connects to', () => {
    const libpq = { PGUSER: 'a:b', PGPASSWORD: 'p@ss', PGSSLMODE: 'verify-full' };
    const address = 'postgres://pg:5432/runledger?options=-c%20jit=off';
    expect(wholeAddress(address, libpq)).to.equal(`${address}&user=a%3Ab&password=p%40ss&sslmode=require`);
    const own = 'postgres://own:secret@pg/runledger?sslmode=disable';
    expect(wholeAddress(own, libpq)).to.equal(own);
    expect(wholeAddress(own, {})).to.equal(own);
    // An organization may move back: the other database is the source then.
    const all = {
      DATABASE_URL: 'postgres://pg/one',
      DATABASE_URLS: 'eu=postgres://eu/two us=postgres://own:x@us/three',
    };
    expect([...addressesForServers(all, { PGUSER: 'ada', PGPASSWORD: 'x' })]).to.deep.equal([
      ['first', 'postgres://pg/one?user=ada&password=x'],
      ['eu', 'postgres://eu/two?user=ada&password=x'],
      ['us', 'postgres://own:x@us/three'],
    ]);
  });

  it('may be whole addresses in a list, each in a file of its own', async () => {
    const file = await inFile('uri', 'postgres://eu:hunter2@eu/runledger\n');
    const given = { DATABASE_URLS: `us=postgres://us/runledger eu=file://${file}` };
    const list = readConfig(['DATABASE_URLS'], given).DATABASE_URLS;
    expect(list).to.equal('us=postgres://us/runledger eu=postgres://eu:hunter2@eu/runledger');
    const own = await inFile('own', 'postgres://own/runledger?sslmode=disable');
    const modes = { DATABASE_URLS: `eu=file://${file}?sslmode=verify-full own=file://${own}?sslmode=verify-full` };
    expect(readConfig(['DATABASE_URLS'], modes).DATABASE_URLS, 'each has its own TLS mode').to.equal(
      'eu=postgres://eu:hunter2@eu/runledger?sslmode=verify-full own=postgres://own/runledger?sslmode=disable',
    );
    expect(complaint('DATABASE_URLS', { DATABASE_URLS: 'eu=file:///none' })).to.match(
      /^DATABASE_URLS .*none \(ENOENT\)$/,
    );
  });

  it('of S3 come in pairs', async () => {
    const id = { AWS_ACCESS_KEY_ID_FILE: await inFile('id', 'AKIA\n') };
    const both = { ...id, AWS_SECRET_ACCESS_KEY_FILE: await inFile('secret', 's3cret') };
    expect(s3Credentials(both)).to.deep.equal({ credentials: { accessKeyId: 'AKIA', secretAccessKey: 's3cret' } });
    expect(s3Credentials({ AWS_ACCESS_KEY_ID: 'x' }), 'the SDK reads it').to.deep.equal({});
    expect(() => s3Credentials(id)).to.throw(/AWS_SECRET_ACCESS_KEY/);
  });
});

describe("Redis' credentials in settings of their own", () => {
  const url = (settings: Record<string, string>): string =>
    readConfig(['REDIS_URL', 'REDIS_USERNAME', 'REDIS_PASSWORD'], settings).REDIS_URL.join(' ');

  it('may hold any character, and go to every node', () => {
    const credentials = { REDIS_USERNAME: 'a:b', REDIS_PASSWORD: 'p@ss/w#rd?%41' };
    expect(url({ REDIS_URL: 'rediss://one:6380/0, rediss://two:6380/0', ...credentials })).to.equal(
      'rediss://a%3Ab:p%40ss%2Fw%23rd%3F%2541@one:6380/0,rediss://a%3Ab:p%40ss%2Fw%23rd%3F%2541@two:6380/0',
    );
  });

  it('leave an address alone that names its own, or is none', () => {
    expect(url({ REDIS_URL: 'redis://:own@one', REDIS_PASSWORD: 'other' })).to.equal('redis://:own@one');
    expect(complaint('REDIS_URL', { REDIS_URL: 'one:6379', REDIS_PASSWORD: 'hunter2' })).to.match(/^REDIS_URL must be/);
  });
});
