import { expect } from 'chai';
import {
  alertEvents,
  executionEvent,
  testEvent,
  type CloudEvent,
} from '../../../internal/controller/notify/cloud-event.ts';
import { chatRequest, type ChatType } from '../../../internal/controller/notify/chat-formats.ts';
import { ConsoleLinks } from '../../../internal/controller/notify/links.ts';
import { messageOf } from '../../../internal/controller/notify/told-message.ts';
import { invoices, transition } from '../../support/notify/expectations.ts';
import { sizes, vendorFormats } from '../../support/notify/vendor-formats.ts';

const links = new ConsoleLinks(new URL('https://console.example/'));
const chats = Object.keys(sizes) as ChatType[];
const url = new URL('https://chat.example/billing');

const opened = (given: Parameters<typeof transition>[1] = {}, lines = 'Error: no route\n  at send'): CloudEvent[] =>
  alertEvents(
    transition('opened', given),
    { executionId: 'run 1/ä', error: { id: 'E', firstLine: lines.split('\n')[0] ?? '', firstLines: lines } },
    links,
  );
const ended = (): CloudEvent[] => alertEvents(transition('resolved'), undefined, links);
const failed = (): CloudEvent[] => [
  executionEvent(
    {
      automationId: invoices,
      executionId: 'run-7',
      state: 'failed',
      at: new Date(),
      occurredAt: new Date(),
      errorId: 'E',
      errorDescription: 'x'.repeat(2_000),
    },
    'acme',
    undefined,
    links,
  ),
];

/** Texts that are long, and that try to be markup of some chat. */
const hostile = '<!channel> <@U1> @everyone [a](https://evil.example) `x` *b* & "q" \u{1f4a5}'.repeat(40);

const news: Record<string, () => CloudEvent[]> = {
  'one alert': () => opened(),
  'its end': ended,
  'a failed execution': failed,
  'a test': () => [testEvent('acme', links)],
  'hostile texts': () => opened({ reason: hostile, name: hostile }, hostile),
  'ten alerts with hostile texts': () =>
    Array.from({ length: 10 }, () => opened({ reason: hostile, kind: 'failing' }, `${hostile}\n${hostile}`)).flat(),
};

describe('messages to chats', () => {
  for (const type of chats) {
    for (const [what, make] of Object.entries(news)) {
      it(`fit the format and the limits of ${type}: ${what}`, () => {
        const events = make();
        const message = messageOf({ events, count: events.length + 40, good: 0 }, 'acme');
        for (const told of [message, messageOf({ events, count: events.length, good: 0 }, 'acme')]) {
          const { body, headers } = chatRequest(type, told, { url, id: 'id-1' });
          expect(vendorFormats[type](body)).to.deep.equal([]);
          const size = type === 'slack' || type === 'discord' ? body.length : Buffer.byteLength(body);
          expect(size).to.be.at.most(sizes[type]);
          expect(headers['Content-Type']).to.equal('application/json');
        }
        if (what !== 'one alert') return;
        const { body } = chatRequest(type, messageOf({ events, count: 1, good: 0 }, 'acme'), { url, id: 'id-1' });
        for (const part of ['Nightly invoices did not start', 'Nothing started at 02', 'no route']) {
          expect(body.replaceAll('\\\\', '')).to.include(part);
        }
        expect(body).to.include('https://console.example/o/acme/executions/');
      });
    }
  }

  it('count what they do not name', () => {
    const events = Array.from({ length: 10 }, () => opened()).flat();
    const { title, more } = messageOf({ events, count: 10_000, good: 12 }, 'acme');
    expect([title, more]).to.deep.equal(['acme: 9988 automations need a look, 12 right again', 9_990]);
    const { body } = chatRequest('slack', messageOf({ events, count: 10_000, good: 0 }, 'acme'), { url, id: 'i' });
    expect(body).to.match(/And 99\d\d more\./);
  });

  it('let no text of an event mention people or become a link', () => {
    const events = opened({ reason: hostile, name: hostile }, hostile);
    const message = messageOf({ events, count: 1, good: 0 }, 'acme');
    const bodyOf = (type: ChatType): string => chatRequest(type, message, { url, id: 'i' }).body;
    expect(bodyOf('slack')).not.to.match(/<!|<@/);
    expect(bodyOf('googlechat')).not.to.match(/<!|<@/);
    // Texts between fences are shown as they are.
    const discord = bodyOf('discord').replaceAll(/```.*?```/g, '');
    expect(discord).to.include('evil').and.not.to.include('[a](');
    expect(JSON.parse(bodyOf('discord')))
      .to.have.nested.property('allowed_mentions.parse')
      .that.deep.equals([]);
  });

  it('reach the right address: a topic at the root of ntfy, a thread and an id in Google Chat', () => {
    const message = messageOf({ events: opened(), count: 1, good: 0 }, 'acme');
    const topic = chatRequest('ntfy', message, {
      url: new URL('https://ntfy.example/billing'),
      token: 'tk_1',
      id: 'i',
    });
    expect([topic.url.href, topic.headers['Authorization']]).to.deep.equal(['https://ntfy.example/', 'Bearer tk_1']);
    expect(JSON.parse(topic.body)).to.include({ topic: 'billing', priority: 4 });
    const space = new URL('https://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t');
    const { url: to, body } = chatRequest('googlechat', message, { url: space, id: 'id-1' });
    expect(Object.fromEntries(to.searchParams)).to.deep.equal({
      key: 'k',
      token: 't',
      messageReplyOption: 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD',
      requestId: 'id-1',
    });
    const [item] = message.items;
    expect(JSON.parse(body)).to.deep.include({ thread: { threadKey: item?.alert?.id } });
  });
});
