/** The namespace of the Jobs; its organization is of the same name. */
export const jobsNamespace = 'globex';

/** A namespace whose Jobs are captured: a CronJob that runs each minute, and a Job that fails. */
export function capturedJobs(image: string): object[] {
  const container = (script: string): object => ({
    name: 'job',
    image,
    command: ['node', '--eval', script],
    terminationMessagePolicy: 'FallbackToLogsOnError',
  });
  const spec = (script: string): object => ({
    backoffLimit: 0,
    template: {
      spec: { restartPolicy: 'Never', automountServiceAccountToken: false, containers: [container(script)] },
    },
  });
  const labels = { 'runledger.dev/organization': jobsNamespace, 'runledger.dev/capture': 'true' };
  const metadata = (name: string): object => ({ name, namespace: jobsNamespace });
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: jobsNamespace, labels } },
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: metadata('minutely'),
      spec: { schedule: '* * * * *', jobTemplate: { spec: spec('') } },
    },
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: metadata('fails'),
      spec: spec("console.error('The disk is full.'); process.exit(3)"),
    },
  ];
}
