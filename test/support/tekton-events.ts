/** A time as Kubernetes has it. */
export function secondsAgo(seconds: number): string {
  return new Date(Date.now() - seconds * 1_000).toISOString().replace(/\.\d+/, '');
}

/** A TaskRun as Tekton sends it, shortened: tektoncd/pipeline, events.md. */
export function taskRun(metadata: object = {}, status: object = {}) {
  return {
    metadata: {
      annotations: { 'pipeline.tekton.dev/release': 'v1.0.0', 'tekton.dev/tags': 'search' },
      creationTimestamp: secondsAgo(61),
      generateName: 'curl-run-',
      generation: 1,
      labels: { 'app.kubernetes.io/managed-by': 'tekton-pipelines', 'tekton.dev/task': 'curl' },
      name: 'curl-run-6gplk',
      namespace: 'default',
      resourceVersion: '156770',
      uid: '4ccb4f01-3ecc-4eb4-87e1-76f04efeee5c',
      ...metadata,
    },
    spec: {
      params: [{ name: 'url', value: 'https://artifacthub.io/packages/tekton-task' }],
      resources: {},
      serviceAccountName: 'default',
      taskRef: { kind: 'Task', name: 'curl' },
      timeout: '1h0m0s',
    },
    status: { podName: 'curl-run-6gplk-pod', startTime: secondsAgo(60), ...status },
  };
}

/** A PipelineRun whose Pipeline a resolver has fetched: only the label names it. */
export function pipelineRun(metadata: object = {}, status: object = {}) {
  return {
    metadata: {
      creationTimestamp: secondsAgo(61),
      labels: { 'tekton.dev/pipeline': 'build' },
      name: 'build-8xk2p',
      namespace: 'default',
      uid: '0f6e3c0e-7a3b-4f0e-9a63-0d1f4f3f0a01',
      ...metadata,
    },
    spec: {
      pipelineRef: { resolver: 'git', params: [{ name: 'pathInRepo', value: 'build.yaml' }] },
    },
    status: { startTime: secondsAgo(60), ...status },
  };
}

/** The condition of a run. */
export function condition(status: string, reason: string, message: string) {
  const lastTransitionTime = secondsAgo(59);
  return { conditions: [{ lastTransitionTime, message, reason, status, type: 'Succeeded' }] };
}

/** The headers with which Tekton sends an event: binary mode. */
export function tektonHeaders(type: string, name: string, id: string, time: string): Record<string, string> {
  return {
    'ce-id': id,
    'ce-source': `/apis/tekton.dev/v1beta1/namespaces/default/taskruns/${name}`,
    'ce-specversion': '1.0',
    'ce-subject': name,
    'ce-time': time,
    'ce-type': `dev.tekton.event.${type}.v1`,
    'content-type': 'application/json',
    'user-agent': 'Go-http-client/1.1',
  };
}
