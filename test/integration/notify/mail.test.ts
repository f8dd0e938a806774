import { expect } from 'chai';
import { declareChannel, transition } from '../../support/notify/expectations.ts';
import { startMailServer, type TestMailServer } from '../../support/notify/mail-server.ts';
import { suiteChannels } from '../../support/notify/suite-channels.ts';
import { until } from '../../support/until.ts';

describe('mails about alerts', () => {
  const suite = suiteChannels();
  const { database, start, tick, deliveries, allDelivered } = suite;

  const declareMail = (to = ['ana@example.com', 'ben@example.com']) =>
    declareChannel(database.db, { type: 'email', url: '', to, name: 'people' });
  const begin = ({ settings }: TestMailServer) => start({ mailServer: settings });

  for (const [how, secure] of [
    ['STARTTLS', false],
    ['TLS from the start', true],
  ] as const) {
    it(`go out with ${how} and a password, as text and HTML, with a way to unsubscribe`, async () => {
      await using server = await startMailServer({ secure });
      await declareMail();
      await begin(server);
      await tick([transition('opened', { reason: 'Nothing started <b>at</b> 02:30.' })]);
      await allDelivered(1);
      const [mail, ...others] = server.mails;
      expect(others).to.deep.equal([]);
      expect(mail).to.deep.include({ to: ['ana@example.com', 'ben@example.com'], user: 'runledger', isSecure: true });
      const header = (name: string) => mail?.headers.get(name);
      expect(header('subject')).to.equal('[acme] Nightly invoices did not start when it should');
      expect(header('from')).to.equal('Runledger <runledger@example.com>');
      expect(header('auto-submitted')).to.equal('auto-generated');
      expect(header('list-unsubscribe')).to.equal(
        '<https://console.example/runledger/o/acme/settings/channels>, <mailto:runledger@example.com?subject=unsubscribe>',
      );
      expect(mail?.parts.get('text/plain')).to.include('Nothing started <b>at</b> 02:30.');
      const html = mail?.parts.get('text/html');
      expect(html).to.include('Nothing started &lt;b&gt;at&lt;/b&gt; 02:30.').and.to.include('href="https://console');
    });
  }

  it('share a thread from the start of an alert to its end', async () => {
    await using server = await startMailServer();
    await declareMail();
    await begin(server);
    const begun = transition('opened');
    await tick([begun]);
    await allDelivered(1);
    const { id } = begun.alert;
    await tick([transition('resolved', { id, told: ['people'] })]);
    await allDelivered(2);
    const [first, second] = server.mails.map(({ headers }) => headers);
    expect(first?.get('message-id')).to.equal(`<alert-${id}@example.com>`);
    expect(second?.get('in-reply-to')).to.equal(first?.get('message-id'));
    expect(second?.get('references')).to.equal(first?.get('message-id'));
    expect(second?.get('subject')).to.equal(`Re: ${first?.get('subject')}`);
    expect(server.mails[1]?.parts.get('text/plain')).to.include('Nightly invoices is right again');
  });

  it('never carry the password without TLS', async () => {
    await using server = await startMailServer({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    await declareMail();
    await begin(server);
    await tick([transition('opened')]);
    const error = await until('the attempt failed', async () => (await deliveries())[0]?.last_error ?? undefined);
    expect(error).to.match(/STARTTLS/);
    expect(server.mails).to.deep.equal([]);
  });

  it('show the answer of the mail server: for good if it refuses everybody, and beside a delivery if some', async () => {
    await using server = await startMailServer({
      onRcptTo: ({ address }, _session, done) => {
        const refusal = Object.assign(new Error('no such user here'), { responseCode: 550 });
        done(address.startsWith('gone') ? refusal : null);
      },
    });
    await declareMail(['gone@example.com']);
    await begin(server);
    await tick([transition('opened')]);
    const refused = await until('it is given up', async () => {
      const [row] = await deliveries();
      return (row?.given_up_at ?? null) !== null && row;
    });
    expect(refused.last_error).to.match(/550.*no such user here/);
    await database.db
      .updateTable('channels')
      .set({ to: ['gone@example.com', 'ana@example.com'] })
      .execute();
    await tick([transition('opened')]);
    const told = await until('it is delivered', async () => {
      const rows = await deliveries();
      return (rows[1]?.delivered_at ?? null) !== null && rows[1];
    });
    expect(told.last_error).to.match(/550.*no such user here/);
    expect(server.mails.map(({ to }) => to)).to.deep.equal([['ana@example.com']]);
  });

  it('say whom to ask if the installation has no mail server', async () => {
    await declareMail();
    await start();
    await tick([transition('opened')]);
    const error = await until('the attempt failed', async () => (await deliveries())[0]?.last_error ?? undefined);
    expect(error).to.equal('this installation has no mail server: its operators set SMTP_URL');
  });
});
