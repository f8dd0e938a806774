import { settings, type SettingName } from '../../internal/config/settings.ts';
import type { Declaration, Option } from './command.ts';

/** The name of the command line in the image, and of the `bin` of a clone. */
export const program = 'runledger-admin';

const width = 100;

const exitCodes = `Exit code 0: done, or nothing is wrong. 1: failed, or something is wrong. 2: the arguments or the settings are wrong, or it could not look.`;

/** The overall help, with a line for each command. */
export function helpOfAll(commands: readonly (readonly [name: string, summary: string])[]): string {
  return [
    `Usage: ${program} COMMAND [options]`,
    'The commands of an operator.',
    table(commands),
    `${program} COMMAND --help says what a command takes.`,
    exitCodes,
  ]
    .map((part) => wrap(part))
    .join('\n\n')
    .concat('\n');
}

/** The help of a command, made from its declaration alone. */
export function helpOf(name: string, declaration: Declaration): string {
  const { summary, options, settings: names, notes } = declaration;
  const rows = Object.entries(options).map(([option, { text, ...spec }]) => [nameOf(option, spec), text] as const);
  const read = names.flatMap((setting) =>
    setting in settings ? [[setting, describe(setting as SettingName)] as const] : [],
  );
  return [
    usageOf(name, declaration),
    summary,
    ...(rows.length > 0 ? [table(rows)] : []),
    ...(notes === undefined ? [] : [notes]),
    ...(read.length > 0 ? [`Settings, as variables of the environment:\n${table(read)}`] : []),
    exitCodes,
  ]
    .map((part) => wrap(part))
    .join('\n\n')
    .concat('\n');
}

function describe(setting: SettingName): string {
  return settings[setting].desc ?? '';
}

/** The usage line of a command. */
export function usageOf(name: string, { options, takes }: Declaration): string {
  const required = Object.entries(options).filter(([, option]) => option.type === 'string' && option.required === true);
  const more = required.length < Object.keys(options).length ? ['[options]'] : [];
  const words = [program, name, ...(takes === undefined ? [] : [`[${takes}]`])];
  return ['Usage:', ...words, ...required.map(([option, spec]) => nameOf(option, spec)), ...more].join(' ');
}

function nameOf(option: string, spec: Omit<Option, 'text'>): string {
  if (!('value' in spec)) return `--${option}`;
  return `--${option} ${String(spec.value)}${'multiple' in spec ? ' …' : ''}`;
}

/** A table of two columns. A long name gets its own line. */
function table(rows: readonly (readonly [string, string])[]): string {
  const column = Math.min(26, Math.max(...rows.map(([name]) => name.length)) + 2);
  return rows
    .flatMap(([name, text]) => {
      const [first = '', ...others] = linesOf(text, width - column - 2);
      const indent = ' '.repeat(column + 2);
      const head = name.length + 2 > column ? [`  ${name}`, `${indent}${first}`] : [`  ${name.padEnd(column)}${first}`];
      return [...head, ...others.map((line) => `${indent}${line}`)];
    })
    .join('\n');
}

/** Breaks the long lines of a text; those of tables are short enough. */
function wrap(text: string): string {
  return text
    .split('\n')
    .flatMap((line) => (line.length > width && !line.startsWith(' ') ? linesOf(line, width) : [line]))
    .join('\n');
}

function linesOf(text: string, longest: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= longest) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
