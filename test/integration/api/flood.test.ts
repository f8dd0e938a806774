import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect } from 'chai';
import { inBothModes } from '../../support/api-modes.ts';
import { RawConnection } from '../../support/raw-connection.ts';
import { until } from '../../support/until.ts';

const request = 'GET / HTTP/1.1\r\nHost:\r\n\r\n';
/** As many requests as Node reads of a connection at once. */
const each = Math.floor(65_536 / request.length);
const connections = 10;

inBothModes('a flood of requests in one packet after the other', ({ startApi }) => {
  let [begun, ended, most] = [0, 0, 0];
  const begin = (): void => {
    begun += 1;
    most = Math.max(most, begun - ended);
  };
  const end = (): void => {
    ended += 1;
  };

  before(() => {
    subscribe('http.server.request.start', begin);
    subscribe('http.server.response.finish', end);
  });

  after(() => {
    unsubscribe('http.server.request.start', begin);
    unsubscribe('http.server.response.finish', end);
  });

  it('is answered as it is read: what all connections have sent is not held at once', async () => {
    await using api = await startApi((event) => Promise.resolve(event));
    using all = new DisposableStack();
    const opened = Array.from({ length: connections }, () => RawConnection.open(api.port));
    const flooding = (await Promise.all(opened)).map((connection) => all.use(connection));
    for (const connection of flooding) connection.send(request);
    await until('all are accepted', () => ended === connections);
    for (const connection of flooding) connection.send(request.repeat(each));
    await until('all are answered', () => ended === connections * (each + 1));
    expect(most).to.be.at.most(each * 2);
  });
});
