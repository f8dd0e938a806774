import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { brotliCompressSync, constants } from 'node:zlib';
import type { PageRoute } from '../intake/http/page-route.ts';
import { RequestError } from '../kit/errors/request-error.ts';
import { browserHeaders } from '../kit/html/answer-html.ts';

const types = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml' } as const;

/** The static files by the name that pages use, from this folder and from htmx. */
const files = {
  'console.css': new URL('static/console.css', import.meta.url),
  'console.js': new URL('static/console.js', import.meta.url),
  'tail.js': new URL('static/tail.js', import.meta.url),
  'theme.js': new URL('static/theme.js', import.meta.url),
  'icon.svg': new URL('static/icon.svg', import.meta.url),
  // One file: htmx processes the page as soon as it runs, and needs its extension by then.
  'htmx.js': ['htmx.org/dist/htmx.min.js', 'htmx.org/dist/ext/hx-sse.min.js'],
} as const;

interface Asset {
  path: string;
  type: string;
  bytes: Buffer;
  compressed: Buffer;
}

/** The static files, in memory. Each address holds a hash of the content. */
export class Assets {
  readonly #byName = new Map<string, Asset>();
  readonly #byPath = new Map<string, Asset>();

  constructor() {
    for (const [name, place] of Object.entries(files)) {
      const asset = assetOf(name, place instanceof URL ? readFileSync(place) : joined(place));
      this.#byName.set(name, asset);
      this.#byPath.set(asset.path, asset);
    }
  }

  /** The path of a file. @throws if there is no such file. */
  path(name: string): string {
    const asset = this.#byName.get(name);
    if (asset === undefined) throw new Error(`there is no static file ${name}`);
    return asset.path;
  }

  /** Serves the files with a cache lifetime of a year: a changed file gets a new address. */
  route(): PageRoute {
    return {
      path: '/static/:file',
      methods: ['GET', 'HEAD'],
      answer: (ctx) => {
        const asset = this.#byPath.get(ctx.path);
        if (asset === undefined) throw new RequestError('not-found', 'There is no such file.');
        const brotli = ctx.acceptsEncodings('br', 'identity') === 'br';
        ctx.set({ ...browserHeaders, 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' });
        if (brotli) ctx.set('Content-Encoding', 'br');
        ctx.type = asset.type;
        ctx.body = brotli ? asset.compressed : asset.bytes;
      },
    };
  }
}

/** The scripts of packages, concatenated. */
function joined(modules: readonly string[]): Buffer {
  const { resolve } = createRequire(import.meta.url);
  return Buffer.from(modules.map((module) => readFileSync(resolve(module), 'utf8')).join('\n'));
}

function assetOf(name: string, bytes: Buffer): Asset {
  const [stem = '', extension = ''] = name.split('.');
  const digest = hash('sha256', bytes, 'base64url').slice(0, 12);
  const compressed = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
  return {
    path: `/static/${stem}.${digest}.${extension}`,
    type: types[extension as keyof typeof types],
    bytes,
    compressed,
  };
}
