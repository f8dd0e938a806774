import { randomUUID } from 'node:crypto';
import type { Context } from '../intake/http/page-route.ts';
import { collectBody } from '../intake/http/plain-koa.ts';
import { RequestError } from '../kit/errors/request-error.ts';
import { html, type Content, type Html } from '../kit/html/html.ts';
import { uuid } from '../readapi/parameters.ts';

/** Larger than any form of the console, in bytes. */
const readBody = collectBody(65_536, ['application/x-www-form-urlencoded']);

/** The fields of a form, trimmed. An absent field is empty. */
export type Form = (name: string) => string;

export async function readForm(ctx: Context): Promise<Form> {
  const fields = new URLSearchParams((await readBody(ctx)).toString());
  return (name) => fields.get(name)?.trim() ?? '';
}

/** A hidden field with the id of the form: a form that is sent twice takes effect once. */
export function formIdField(): Html {
  return html`<input type="hidden" name="form" value="${randomUUID()}" />`;
}

/** The id of a form. @throws {RequestError} if it has none. */
export function formIdOf(form: Form): string {
  const id = uuid(form('form'));
  if (typeof id === 'string') return id;
  throw malformed('The form is incomplete: open its page again.');
}

/** 400, with a sentence for the person who sent the form. */
export function malformed(detail: string): RequestError {
  return new RequestError('malformed-request', detail);
}

/** A label with a control and an optional hint. */
export function field(label: Content, control: Content, hint?: Content): Html {
  return html`<label class="field"
    ><span>${label}</span>${control}${hint !== undefined && html`<small>${hint}</small>`}</label
  >`;
}
