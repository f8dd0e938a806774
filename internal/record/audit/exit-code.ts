/** What a check found, in sentences. */
export interface Outcome {
  /** What was lost, added or changed. */
  readonly findings: readonly string[];
  /** What could not be checked. */
  readonly problems: readonly string[];
  /** What holds of all that was checked: the end of a sentence. */
  readonly checked: string;
  /** Sentences about what was checked. */
  readonly notes: readonly string[];
}

/**
 * The sentences that the command prints, and its exit code: 0 nothing was changed, 1 something was,
 * 2 it could not be checked. The first sentence says which.
 */
export interface Verdict {
  readonly sentences: readonly string[];
  readonly code: 0 | 1 | 2;
}

/** Most findings that are printed. */
const mostPrinted = 10;

/** The verdict of an outcome. A change outweighs a part that could not be checked. */
export function verdictOf({ findings, problems, checked, notes }: Outcome): Verdict {
  if (findings.length > 0) {
    const rest = findings.length - mostPrinted;
    return {
      code: 1,
      sentences: [
        `Something was lost, added or changed: ${count(findings.length, 'finding')}.`,
        ...findings.slice(0, mostPrinted),
        ...(rest > 0 ? [`There are ${rest.toLocaleString('en')} more findings.`] : []),
        ...problems,
      ],
    };
  }
  if (problems.length > 0) {
    const sentences = ['Not everything could be checked.', ...problems, `What was checked was not changed: ${checked}`];
    return { code: 2, sentences: [...sentences, ...notes] };
  }
  return { code: 0, sentences: [`Nothing was lost, added or changed: ${checked}`, ...notes] };
}

/** The same outcome, with the findings of another check. */
export function withOutcome(outcome: Outcome, { findings = [], problems = [], notes = [] }: Partial<Outcome>): Outcome {
  return {
    checked: outcome.checked,
    findings: [...outcome.findings, ...findings],
    problems: [...outcome.problems, ...problems],
    notes: [...outcome.notes, ...notes],
  };
}

/** A number of things, as `1,234 events`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}
