import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { repository } from '../helm.ts';
import type { Reporting } from './loaded-release.ts';

/** The namespace of the Jobs; its organization is of the same name. */
export const jobsNamespace = 'globex';

interface JobSpec {
  readonly template: { readonly spec: { readonly containers: readonly [Container] } };
}
interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
}

/**
 * For that namespace: a CronJob that runs each minute with the image `node`, and a Job that fails.
 * The Job is the one of deploy/examples/cronjob.yaml: its container, of the image `other`, runs
 * under `runledger exec`.
 */
export async function capturedJobs(node: string, other: string, reporting: Reporting): Promise<object[]> {
  const minutely = {
    backoffLimit: 0,
    template: {
      spec: {
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        containers: [{ name: 'job', image: node, command: ['node', '--eval', ''] }],
      },
    },
  };
  const metadata = (name: string): object => ({ name, namespace: jobsNamespace });
  return [
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: metadata('minutely'),
      spec: { schedule: '* * * * *', jobTemplate: { spec: minutely } },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: metadata('runledger-token'),
      stringData: { 'token-1': reporting.token, 'ca.crt': reporting.ca },
    },
    { apiVersion: 'batch/v1', kind: 'Job', metadata: metadata('fails'), spec: await failing(other, reporting) },
  ];
}

async function failing(image: string, { url, address }: Reporting): Promise<object> {
  const example = parse(await readFile(join(repository, 'deploy/examples/cronjob.yaml'), 'utf8')) as {
    spec: { jobTemplate: { spec: JobSpec } };
  };
  const { spec } = example.spec.jobTemplate;
  const pod = spec.template.spec;
  const [container] = pod.containers;
  const script = ['sh', '-c', 'echo The disk is full. >&2; exit 3'];
  const own = [
    { name: 'RUNLEDGER_URL', value: url.href },
    { name: 'RUNLEDGER_CA_FILE', value: '/token/ca.crt' },
  ];
  const job = {
    ...container,
    image,
    args: [...container.args.slice(0, container.args.indexOf('--') + 1), ...script],
    env: [...container.env.filter(({ name }) => name !== 'RUNLEDGER_URL'), ...own],
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
  const hostAliases = [{ ip: address, hostnames: [url.hostname] }];
  return { ...spec, template: { ...spec.template, spec: { ...pod, hostAliases, containers: [job] } } };
}
