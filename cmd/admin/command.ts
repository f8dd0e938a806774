import type { Readable, Writable } from 'node:stream';
import type { Config, ConfigName } from '../../internal/config/read.ts';
import type { Progress, Terminal } from '../../internal/kit/terminal/progress-bar.ts';

/** An option of a command: what `parseArgs` reads, and what the help says. */
export type Option =
  | { readonly type: 'boolean'; readonly text: string }
  | {
      readonly type: 'string';
      /** Stands for the value in the help. */
      readonly value: string;
      readonly text: string;
      /** The option may be given several times. */
      readonly multiple?: true;
      readonly required?: true;
    };

export type Options = Readonly<Record<string, Option>>;

type Value<O extends Option> = O extends { readonly type: 'boolean' }
  ? boolean
  : O extends { readonly multiple: true }
    ? readonly string[]
    : O extends { readonly required: true }
      ? string
      : string | undefined;

/** A command as its help shows it. Everything about its arguments is derived from this. */
export interface Declaration<O extends Options = Options, S extends ConfigName = ConfigName> {
  /** One sentence for the list of commands. */
  readonly summary: string;
  readonly options: O;
  /** The name of the one argument that it takes besides its options. */
  readonly takes?: string;
  /** The settings that it reads. */
  readonly settings: readonly S[];
  /** What to know before running it, in paragraphs. */
  readonly notes?: string;
  /** It only checks: an error means that it could not, and exits with 2 instead of 1. */
  readonly checks?: true;
  /** It ends in order when its signal aborts. Other commands end at once, and can be run again. */
  readonly stops?: true;
}

/** Checks a declaration, and keeps its literal types for {@link Arguments}. */
export function declare<const O extends Options, S extends ConfigName>(declaration: Declaration<O, S>) {
  return declaration;
}

/** The arguments of a declared command: an absent flag is false, an absent list is empty. */
export type Arguments<D extends Declaration> = {
  readonly [Name in keyof D['options']]: Value<D['options'][Name]>;
};

/** The streams and the environment of a command line, from the process or a test. */
export interface Surroundings {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** Stops the command. */
  readonly signal: AbortSignal;
}

/** What a running command receives. Only its results go to `stdout`. */
export interface Context<S extends ConfigName = ConfigName> extends Surroundings {
  /** The argument besides the options. */
  readonly taken: string | undefined;
  /** Reads the command's settings. @throws {ConfigError} that names a wrong one. */
  readonly settings: () => Config<S>;
  /** Writes a part of the result. */
  readonly print: (text: string) => void;
  /** Tells a person something, on stderr. */
  readonly say: (sentence: string) => void;
  /** Shows how far the command has come, if a person is watching. */
  readonly show: (progress: Progress) => void;
}

/** What a running command receives, by its declaration. */
export type ContextOf<D extends Declaration> = Context<D['settings'][number]>;

/** Resolves with the exit code if it is not 0. */
export type Run<D extends Declaration> = (args: Arguments<D>, context: ContextOf<D>) => Promise<void | 0 | 1 | 2>;

/** The arguments are wrong. The message names the argument. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
