import { html, type Content, type Html } from '../../kit/html/html.ts';

/** What a tile shows. */
export interface Tile {
  title: string;
  figure: string;
  note: string;
  href: string;
  /** A colour class. */
  tone: string;
  mark: Content;
}

/** A figure that leads to what is behind it. */
export function tile({ title, figure, note, href, tone, mark }: Tile): Html {
  return html`<a class="tile ${tone}" href="${href}">
    <span class="title">${mark}${title}</span>
    <strong>${figure}</strong>
    <small>${note}</small>
  </a>`;
}
