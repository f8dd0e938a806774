import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The form of an automation's id. */
export const uuidForm = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The arguments are wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type Options = NonNullable<ParseArgsConfig['options']>;

/**
 * The options of a command.
 * @throws {UsageError} that names any other argument, with a hint for what is no option.
 */
export function parseOptions<T extends Options>(args: readonly string[], options: T, hint = '') {
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'positional') throw new UsageError(`unexpected argument "${token.value}"${hint}`);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const type = Object.hasOwn(options, name) ? options[name]?.type : undefined;
    if (type === undefined) throw new UsageError(`unknown option "${rawName}"`);
    if (type === 'boolean' && value !== undefined) throw new UsageError(`${rawName} takes no value`);
    if (type === 'boolean') continue;
    if (value === undefined) throw new UsageError(`${rawName} needs a value`);
    // The value is most probably missing, and this is the next option.
    if (!inlineValue && value.startsWith('-')) throw new UsageError(`${rawName} needs a value before "${value}"`);
  }
  return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
}
