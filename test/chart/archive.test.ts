import { expect } from 'chai';
import { renderWith } from '../support/helm.ts';
import { environment, specOf, theContainer, thePod, type Manifest } from '../support/helm-manifests.ts';

interface Policy {
  ingress: unknown[];
  egress: { ports: { port: number }[]; to?: unknown[] }[];
}

/** The ports to which the pods of a component may connect. */
const portsOf = (manifests: readonly Manifest[], name: string): number[] =>
  specOf<Policy>(manifests, 'NetworkPolicy', name).egress.flatMap(({ ports }) => ports.map(({ port }) => port));

describe('chart, archive', () => {
  it('exports on a schedule, and retention finds the same archive', async () => {
    const manifests = await renderWith('external-services', 'archive.schedule=0 1 * * *', 'archive.format=ndjson');
    const archive = {
      ARCHIVE_URL: 's3://runledger-record/production',
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_S3: 'https://s3.example.com:9000',
      AWS_ACCESS_KEY_ID: 'runledger-archive/accessKeyId',
      AWS_SECRET_ACCESS_KEY: 'runledger-archive/secretAccessKey',
      RETENTION_DAYS: '90',
      DATABASE_URL: 'runledger-db-app/uri',
    };
    for (const name of ['export', 'worker']) expect(environment(manifests, `runledger-${name}`)).to.include(archive);
    expect(environment(manifests, 'runledger-ingest')).to.not.have.any.keys(Object.keys(archive));
    const { args } = theContainer(manifests, 'runledger-export');
    expect(args).to.deep.equal(['cmd/admin/main.ts', 'export', '--format', 'ndjson']);
    expect(specOf(manifests, 'CronJob', 'runledger-export')).to.include({
      schedule: '0 1 * * *',
      timeZone: 'Etc/UTC',
      concurrencyPolicy: 'Forbid',
    });
    expect(portsOf(manifests, 'runledger-export')).to.include.members([5432, 443, 9000]);
    expect(portsOf(manifests, 'runledger-worker')).to.include.members([443, 9000]);
  });

  it('is read by the console once older days live there only', async () => {
    const none = await renderWith('external-services');
    expect(environment(none, 'runledger-console')).to.not.have.any.keys('ARCHIVE_URL', 'AWS_REGION');
    expect(environment(none, 'runledger-worker')).to.not.have.property('HOT_DAYS');
    const manifests = await renderWith('external-services', 'config.hotDays=7');
    const archive = { ARCHIVE_URL: 's3://runledger-record/production', AWS_REGION: 'us-east-1' };
    expect(environment(manifests, 'runledger-console')).to.include(archive).and.not.have.property('HOT_DAYS');
    for (const name of ['export', 'worker']) {
      expect(environment(manifests, `runledger-${name}`)).to.include({ HOT_DAYS: '7' });
    }
    expect(portsOf(manifests, 'runledger-console')).to.include(9000);
  });

  it('is in a folder of a volume', async () => {
    const volume = ['name=archive', 'persistentVolumeClaim.claimName=archive'];
    const manifests = await renderWith(
      'archive.url=file:///archive',
      ...volume.map((field) => `archive.extraVolumes[0].${field}`),
      'archive.extraVolumeMounts[0].name=archive',
      'archive.extraVolumeMounts[0].mountPath=/archive',
    );
    expect(environment(manifests, 'runledger-export')).to.include({ ARCHIVE_URL: 'file:///archive' });
    expect(environment(manifests, 'runledger-export')).to.not.have.any.keys('AWS_REGION', 'AWS_ACCESS_KEY_ID');
    const { volumes } = thePod(manifests, 'runledger-export');
    expect(volumes?.at(-1)).to.deep.equal({ name: 'archive', persistentVolumeClaim: { claimName: 'archive' } });
    expect(portsOf(manifests, 'runledger-export')).to.not.include(443);
    const { ingress } = specOf<Policy>(manifests, 'NetworkPolicy', 'runledger-postgresql');
    expect(JSON.stringify(ingress)).to.contain('"app.kubernetes.io/component":"export"');
  });

  it('shares its S3 with a witness of the log, which only workers need', async () => {
    const witness = 'config.ledgerWitnesses[0]=s3://log-witness/production?days=3650';
    const manifests = await renderWith(witness, 'archive.endpoint=https://s3.example.com:9000', 'archive.region=eu-1');
    const worker = environment(manifests, 'runledger-worker');
    expect(worker).to.include({ AWS_REGION: 'eu-1', AWS_ENDPOINT_URL_S3: 'https://s3.example.com:9000' });
    expect(worker).to.not.have.property('ARCHIVE_URL');
    expect(portsOf(manifests, 'runledger-worker')).to.include.members([443, 9000]);
    expect(environment(manifests, 'runledger-ingest')).to.not.have.property('AWS_REGION');

    const both = await renderWith(witness, 'archive.url=file:///archive');
    expect(environment(both, 'runledger-export')).to.not.have.property('AWS_REGION');
    expect(environment(await renderWith('external-services', witness), 'runledger-worker')).to.include({
      AWS_ENDPOINT_URL_S3: 'https://s3.example.com:9000',
    });
  });

  it('is at the port that its address implies', async () => {
    const at = async (endpoint: string): Promise<number[]> => {
      const manifests = await renderWith('archive.url=s3://record', `archive.endpoint=${endpoint}`);
      return portsOf(manifests, 'runledger-export');
    };
    expect(await at('http://minio')).to.include(80);
    expect(await at('http://minio/base/')).to.include(80);
    expect(await at('http://[fd00::9]/')).to.include(80);
    expect(await at('https://minio'))
      .to.include(443)
      .and.not.include(80);
    expect(await at('http://minio:9000'))
      .to.include(9000)
      .and.not.include(80);
  });

  it('is off without an address', async () => {
    const manifests = await renderWith();
    expect(manifests.map(({ kind }) => kind)).to.not.include('CronJob');
    expect(environment(manifests, 'runledger-worker')).to.not.have.property('ARCHIVE_URL');
  });
});
