import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Answer } from '../../support/api-client.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { expectValid, readOpenApi, type OpenApiOperation } from '../../support/openapi.ts';
import { expectProblem } from '../../support/problem.ts';
import { condition, pipelineRun, secondsAgo, taskRun, tektonHeaders } from '../../support/tekton-events.ts';

const automationId = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';
/** As Python has them: `uuid5(uuid5(NAMESPACE_URL, 'default'), 'task/curl')`, or `'pipeline/…'`. */
const [ofTask, ofPipeline] = ['7baeadaf-49d9-598e-8d17-8d8028c99956', 'bb976afe-91a6-5f99-94ab-fab894dfefe5'];

inBothModes('POST /v1/cloudevents/ from Tekton', ({ suiteIngest }) => {
  const suite = suiteIngest();
  let operation: OpenApiOperation | undefined;
  before(async () => {
    operation = (await readOpenApi({ dereferenced: true })).paths['/v1/cloudevents/']?.['post'];
  });

  const [startTime, completionTime] = [secondsAgo(60), secondsAgo(20)];
  // Tekton's clock has microseconds.
  const sentAt = secondsAgo(10).replace('Z', '.157819Z');
  const shown = (time: string): string => new Date(time).toISOString();

  async function send(type: string, data: object, id: string = randomUUID()): Promise<Answer> {
    const headers = tektonHeaders(type, 'some-run', id, sentAt);
    const answer = await suite.ingest.client.register(JSON.stringify(data), headers, undefined, '/v1/cloudevents/');
    expectValid(operation?.responses[String(answer.status)], answer.json());
    return answer;
  }
  const stored = async () =>
    (await suite.stored()).map(({ kind, automationId, executionId, occurredAt, description, errorId }) => {
      const time = occurredAt === undefined ? '' : new Date(occurredAt).toISOString();
      return [kind, automationId, executionId.slice(0, 4), time, description, errorId].filter((text) => text !== '');
    });

  it('records the life of a TaskRun', async () => {
    const running = condition('Unknown', 'Running', 'Not all Steps in the Task have finished executing');
    const pending = condition('Unknown', 'Pending', 'pod status "Initialized":"False"');
    const succeeded = condition('True', 'Succeeded', 'All Steps have completed executing');
    await send('taskrun.started', { taskRun: taskRun({}, { ...condition('Unknown', 'Started', ''), startTime }) });
    await send('taskrun.unknown', { taskRun: taskRun({}, pending) });
    await send('taskrun.running', { taskRun: taskRun({}, running) });
    await send('taskrun.successful', {
      taskRun: taskRun({}, { ...succeeded, completionTime }),
    });
    expect(await stored()).to.deep.equal([
      ['START', ofTask, '4ccb', shown(startTime), 'TaskRun curl-run-6gplk'],
      ['EVENT', ofTask, '4ccb', shown(sentAt), 'Pending: pod status "Initialized":"False"'],
      ['EVENT', ofTask, '4ccb', shown(sentAt), 'Running: Not all Steps in the Task have finished executing'],
      ['END', ofTask, '4ccb', shown(completionTime)],
    ]);
  });

  it('records a failed PipelineRun once, though Tekton repeats its event', async () => {
    const failed = condition(
      'False',
      'PipelineRunTimeout',
      'PipelineRun "build-8xk2p" failed to finish within "1h0m0s"',
    );
    const data = { pipelineRun: pipelineRun({}, { ...failed, completionTime }) };
    const id = randomUUID();
    for (let i = 0; i < 2; i += 1) expect((await send('pipelinerun.failed', data, id)).status).to.equal(201);
    expect(await stored()).to.deep.equal([
      ['ERROR', ofPipeline, '0f6e', shown(completionTime), 'PipelineRun build-8xk2p failed', 'PipelineRunTimeout'],
      ['END', ofPipeline, '0f6e', shown(completionTime)],
    ]);
    expect((await suite.stored())[0]?.errorDescription).to.equal(failed.conditions[0]?.message);
  });

  it('takes the automation of the annotation', async () => {
    const annotations = { 'runledger.dev/automation-id': automationId };
    await send('pipelinerun.started', { pipelineRun: pipelineRun({ annotations }) });
    expect((await stored())[0]?.slice(0, 2)).to.deep.equal(['START', automationId]);
  });

  it('records a run that ended before the limit of times with the time of acceptance', async () => {
    const ended = { pipelineRun: pipelineRun({}, { completionTime: secondsAgo(100 * 86_400) }) };
    expect((await send('pipelinerun.successful', ended)).status).to.equal(201);
    expect(await stored()).to.deep.equal([['END', ofPipeline, '0f6e']]);
  });

  it('400: an annotation that is no UUID, data without a run, another kind of run', async () => {
    const pointersOf = async (type: string, data: object): Promise<string[]> => {
      const answer = await send(type, data);
      expectProblem(answer, 400, 'invalid-event');
      return answer.json<{ errors: { pointer: string }[] }>().errors.map(({ pointer }) => pointer);
    };
    const annotations = { 'runledger.dev/automation-id': 'curl' };
    expect(await pointersOf('taskrun.started', { taskRun: taskRun({ annotations }) })).to.deep.equal([
      '/data/taskRun/metadata/annotations/runledger.dev~1automation-id',
    ]);
    const timeless = { pipelineRun: pipelineRun({}, { completionTime: 'yesterday' }) };
    expect(await pointersOf('pipelinerun.failed', timeless)).to.deep.equal(['/data/pipelineRun/status/completionTime']);
    expect(await pointersOf('taskrun.started', {})).to.deep.equal(['/data/taskRun/metadata/uid']);
    expect(await pointersOf('customrun.started', {})).to.deep.equal(['/type']);
    expect(await suite.stored()).to.deep.equal([]);
  });
});
