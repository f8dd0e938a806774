import { html, type Html } from '../../kit/html/html.ts';

/** Maximum number of lines of a text that is shown in full. */
const mostLines = 12;

/** Maximum lines of the message before a stack trace, and maximum characters of a line. */
const [messageLines, longestLine] = [4, 600];

/** Lines of stack traces: Java, .NET and JavaScript; Python; Go; Ruby. */
const frame = /^\s*(?:at |File "|\.\.\. \d+ more|from \S+:\d+:in )|^\s+\S+\.go:\d+|^goroutine \d+ /;

/**
 * The message of an error without its stack trace; Python prints the message last. Undefined if the
 * text is short enough to be shown in full.
 */
export function messageOf(text: string): string | undefined {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.length <= mostLines && text.length <= longestLine * messageLines) return undefined;
  if (lines[0]?.startsWith('Traceback (most recent call last)') === true) {
    const told = lines.slice(1).filter((line) => /^\S/.test(line));
    return cut(told.slice(-messageLines));
  }
  const firstFrame = lines.findIndex((line) => frame.test(line));
  const message = lines.slice(0, firstFrame === -1 ? messageLines : Math.min(firstFrame, messageLines));
  const causes = lines.slice(message.length).filter((line) => line.startsWith('Caused by: '));
  return cut([...message, ...causes.slice(-1)]);
}

function cut(lines: readonly string[]): string {
  return lines.map((line) => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line)).join('\n');
}

/** The text of an error. A long one is shown as its message, with the full text folded below. */
export function errorText(text: string): Html {
  const message = messageOf(text);
  if (message === undefined) return html`<pre>${text}</pre>`;
  const lines = text.split(/\r\n|\r|\n/).length;
  return html`<pre>${message}</pre>
    <details class="fold trace">
      <summary>${lines > 1 ? `Full text, ${lines} lines` : 'Full text'}</summary>
      <pre>${text}</pre>
    </details>`;
}
