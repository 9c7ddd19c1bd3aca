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
const noise = 'script, style, noscript, template, svg, iframe, object, embed, form, button, input, select, textarea, dialog, [hidden], [aria-hidden="true"]';

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
      return `\n|${content}${heads > 0 && (node as Element).querySelector('td') === null ? `\n|${' --- |'.repeat(heads)}` : ''}`;
    },
  });
  turndown.addRule('table', { filter: ['table', 'thead', 'tbody', 'tfoot'], replacement: (content, node) => ((node as Element).nodeName === 'TABLE' ? `\n\n${content.trim()}\n\n` : content) });
  return turndown;
};

const wholeBody = (html: string): string => {
  const { document } = parseHTML(html);
  for (const element of document.querySelectorAll(noise)) element.remove();
  return document.body?.innerHTML ?? document.documentElement?.innerHTML ?? '';
};

/** The article of a page if it has one that says most of what the page says, otherwise the whole page. */
const convert = ({ html, url }: ReadableRequest): ReadablePage => {
  const turndown = newTurndown(url);
  const { document } = parseHTML(html);
  const title = document.title.trim();
  const whole = turndown.turndown(wholeBody(html));
  const article = new Readability(document, { charThreshold: 250 }).parse();
  const markdown = article?.content ? turndown.turndown(article.content) : '';
  const named = article?.title?.trim() || title;
  return { title: named === '' ? undefined : named, markdown: (markdown.length >= 200 || markdown.length * 2 >= whole.length ? markdown : whole).trim() };
};

if (parentPort !== null) {
  const page = convert(workerData as ReadableRequest);
  parentPort.postMessage(page);
}
