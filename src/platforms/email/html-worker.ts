import { parentPort, workerData } from 'node:worker_threads';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';

/** What the converting thread is given; `whole` keeps what was quoted. */
interface HtmlRequest {
  readonly html: string;
  readonly whole: boolean;
}

const noise = 'title, head, script, style, noscript, template, svg, iframe, object, embed, form, button, input, select, textarea, [hidden], [style*="display:none"], [style*="display: none"]';

/** How mail clients wrap what was written before, and signatures. */
const history = '.gmail_quote, .gmail_quote_container, .gmail_extra, .yahoo_quoted, .moz-cite-prefix, blockquote[type="cite"], #divRplyFwdMsg, #appendonsend, .protonmail_quote, .tutanota_quote, [name="quoted-content"]';
const signatures = '.gmail_signature, .moz-signature, #Signature, #signature, .protonmail_signature_block';
/** Outlook does not wrap the mail below: it follows this element. */
const outlookHistory = '#divRplyFwdMsg, #appendonsend';

const newTurndown = (): TurndownService => {
  const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', hr: '---', br: '' });
  turndown.escape = (text) => text;
  turndown.addRule('image', { filter: 'img', replacement: (_content, node) => (node as Element).getAttribute('alt')?.trim() ?? '' });
  turndown.addRule('link', {
    filter: 'a',
    replacement: (content, node) => {
      const [label, href] = [content.replaceAll(/\s+/g, ' ').trim(), (node as Element).getAttribute('href') ?? ''];
      return !/^https?:/i.test(href) || label === '' || label === href ? content : `[${label}](${href})`;
    },
  });
  turndown.addRule('cell', { filter: ['td', 'th'], replacement: (content) => `${content.trim()} ` });
  turndown.addRule('row', { filter: 'tr', replacement: (content) => `${content.trim()}\n` });
  return turndown;
};

const parse = (html: string): Document => parseHTML(/<body[\s>]/i.test(html) ? html : `<!doctype html><html><body>${html}</body></html>`).document;

const removeHistory = (document: Document): void => {
  for (const mark of document.querySelectorAll(outlookHistory)) {
    for (let next = mark.nextSibling; next !== null; next = mark.nextSibling) next.remove();
  }
  for (const element of document.querySelectorAll(`${history}, ${signatures}`)) element.remove();
};

const printed = (document: Document): string => newTurndown().turndown(document.body).replaceAll(/[ \t]+\n/g, '\n').replaceAll(/\n{3,}/g, '\n\n').trim();

const convert = ({ html, whole }: HtmlRequest): string => {
  const document = parse(html);
  for (const element of document.querySelectorAll(noise)) element.remove();
  if (whole) return printed(document);
  const everything = printed(document);
  removeHistory(document);
  return printed(document) || everything;
};

if (parentPort !== null) {
  const port = parentPort;
  port.postMessage(convert(workerData as HtmlRequest));
}
