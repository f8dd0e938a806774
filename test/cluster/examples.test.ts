import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { repository } from '../support/helm.ts';

describe('the example of a CronJob', () => {
  it('is accepted by the API server, which knows each of its fields', async () => {
    const example: unknown = parse(await readFile(join(repository, 'deploy/examples/cronjob.yaml'), 'utf8'));
    const path = '/apis/batch/v1/namespaces/default/cronjobs?dryRun=All&fieldValidation=Strict';
    const { status, text } = await sharedCluster().admin.call('POST', path, example);
    expect(status, text).to.equal(201);
  });
});
