import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { parentPort, workerData } from 'node:worker_threads';

/** What the converting thread is given. */
export interface ReadableRequest {
  readonly html: string;
  readonly url: string;
}

/** A page as a person would read it. */
export interface ReadablePage {
  readonly title: string | undefined;
  readonly markdown: string;
}

/** Elements that say nothing to a reader. */
const noise = 'title, script, style, noscript, template, svg, iframe, object, embed, form, button, input, select, textarea, dialog, [hidden], [aria-hidden="true"]';

/** In a larger or deeper page no article is looked for: the search takes time that grows faster than the page. */
const articleLimits = { elements: 20_000, depth: 250 };
/** A page that is built like a well has no form worth keeping. */
const maxDepth = 1000;

const absolute = (address: string | null, base: string): string | undefined => {
  const url = address === null ? null : URL.parse(address, base);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : undefined;
};

const newTurndown = (base: string): TurndownService => {
  const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', hr: '---' });
  turndown.addRule('link', {
    filter: 'a',
    replacement: (content, node) => {
      const href = absolute((node as Element).getAttribute('href'), base);
      const text = content.replaceAll(/\s+/g, ' ').trim();
      return text === '' || href === undefined ? content : `[${text}](${href})`;
    },
  });
  turndown.addRule('image', {
    filter: 'img',
    replacement: (_content, node) => {
      const alt = (node as Element).getAttribute('alt')?.replaceAll(/\s+/g, ' ').trim() ?? '';
      const source = absolute((node as Element).getAttribute('src'), base);
      return alt === '' || source === undefined ? '' : `![${alt}](${source})`;
    },
  });
  turndown.addRule('cell', { filter: ['td', 'th'], replacement: (content) => ` ${content.replaceAll(/\s*\n\s*/g, ' ').replaceAll('|', '\\|').trim()} |` });
  turndown.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => {
      const heads = (node as Element).querySelectorAll('th').length;
      return `\n|${content}${heads > 0 && (node as Element).querySelectorAll('td').length === 0 ? `\n|${' --- |'.repeat(heads)}` : ''}`;
    },
  });
  turndown.addRule('table', { filter: ['table', 'thead', 'tbody', 'tfoot'], replacement: (content, node) => ((node as Element).nodeName === 'TABLE' ? `\n\n${content.trim()}\n\n` : content) });
  return turndown;
};

/** The parser makes no body of its own for a piece of HTML. */
const parse = (html: string): Document => parseHTML(/<body[\s>]/i.test(html) ? html : `<!doctype html><html><body>${html}</body></html>`).document;

/** A page without what says nothing to a reader. */
const cleanPage = (html: string): { readonly title: string | undefined; readonly body: HTMLElement } => {
  const document = parse(html);
  const title = document.querySelector('title')?.textContent?.trim();
  for (const element of document.querySelectorAll(noise)) element.remove();
  return { title: title === '' ? undefined : title, body: document.body };
};

const depthOf = (body: HTMLElement): number => {
  let node: Element = body;
  let depth = 0;
  let deepest = 0;
  for (;;) {
    if (node.firstElementChild !== null) {
      node = node.firstElementChild;
      depth += 1;
      deepest = Math.max(deepest, depth);
      continue;
    }
    while (node !== body && node.nextElementSibling === null) {
      node = node.parentElement ?? body;
      depth -= 1;
    }
    if (node === body) return deepest;
    node = node.nextElementSibling ?? body;
  }
};

const plainText = (body: HTMLElement): string => (body.textContent ?? '').replaceAll(/[^\S\n]+/g, ' ').replaceAll(/ ?\n[ \n]*/g, '\n').trim();

/** The article of a page, if it has one that says a good part of what the page says. */
const articleOf = (html: string, whole: ReadablePage, turndown: TurndownService): ReadablePage | undefined => {
  const article = new Readability(parse(html), { charThreshold: 250 }).parse();
  const markdown = article?.content ? turndown.turndown(article.content).trim() : '';
  return markdown.length >= 1500 || markdown.length * 3 >= whole.markdown.length ? { title: article?.title?.trim() || whole.title, markdown } : undefined;
};

/** Says what it has as soon as it has it, from plain text to the article alone: the better things can take too long, or more than there is. */
const convert = ({ html, url }: ReadableRequest, say: (page: ReadablePage) => void): void => {
  const turndown = newTurndown(url);
  const { title, body } = cleanPage(html);
  say({ title, markdown: plainText(body) });
  const depth = depthOf(body);
  if (depth > maxDepth) return;
  const whole = { title, markdown: turndown.turndown(body).trim() };
  say(whole);
  if (depth > articleLimits.depth || body.querySelectorAll('*').length > articleLimits.elements) return;
  const article = articleOf(html, whole, turndown);
  if (article !== undefined) say(article);
};

if (parentPort !== null) {
  const port = parentPort;
  convert(workerData as ReadableRequest, (page) => port.postMessage(page));
}
