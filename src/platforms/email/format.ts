import { parseMarkdown } from '../../lib/markdown/parse.ts';
import { printMarkdown } from '../../lib/markdown/print.ts';
import type { MarkdownStyle } from '../../lib/markdown/print.ts';
import type { Block, Cell, Inline, ListItem, TextStyle } from '../../lib/markdown/tree.ts';
import { markdownWords } from '../../lib/markdown/words.ts';

const asIs = (text: string): string => text;

const spelledOut = (label: string, url: string): string => {
  const address = url.replace(/^(?:mailto|tel):/i, '');
  return address === '' || address === label ? label : `${label} (${address})`;
};

/** Plain text as people write it in mails: no markup, links with their address. */
const plainStyle: MarkdownStyle = {
  text: asIs,
  styled: (_style, inner) => inner,
  code: asIs,
  link: (label, url, bare) => (bare ? label : spelledOut(label, url)),
  codeBlock: (source) => source,
  quote: (inner) => `> ${inner.replaceAll('\n', '\n> ')}`,
  heading: asIs,
  rule: '———',
};

/** The text part of a mail. */
export const formatText = (markdown: string): string => {
  const source = markdown.toWellFormed();
  return printMarkdown(parseMarkdown(source), plainStyle) || source;
};

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const tags: Readonly<Record<TextStyle, string>> = { bold: 'strong', italic: 'em', strike: 's', spoiler: 'span' };

const safeLink = /^(?:https?|mailto|tel):/i;

const link = (label: string, url: string): string => (safeLink.test(url) ? `<a href="${escape(url)}">${label}</a>` : label);

const inlines = (nodes: readonly Inline[]): string => nodes.map(inline).join('');

const inline = (node: Inline): string => {
  switch (node.type) {
    case 'text':
      return escape(node.text).replaceAll('\n', '<br>');
    case 'code':
      return `<code>${escape(node.text)}</code>`;
    case 'link':
      return link(inlines(node.children) || escape(node.url), node.url);
    case 'image':
      return link(escape(node.alt || node.url), node.url);
    case 'bold':
    case 'italic':
    case 'strike':
    case 'spoiler':
      return `<${tags[node.type]}>${inlines(node.children)}</${tags[node.type]}>`;
    default:
      return node satisfies never;
  }
};

const cell = (tag: 'th' | 'td', content: Cell): string => `<${tag} style="border:1px solid #ccc;padding:2px 8px;text-align:left">${inlines(content)}</${tag}>`;

const row = (tag: 'th' | 'td', cells: readonly Cell[]): string => `<tr>${cells.map((content) => cell(tag, content)).join('')}</tr>`;

const item = ({ blocks, checked }: ListItem): string => {
  const box = checked === undefined ? '' : checked ? '☑ ' : '☐ ';
  const [first, ...rest] = blocks;
  // A single paragraph needs no space around it.
  return `<li>${box}${first?.type === 'paragraph' ? inlines(first.children) : first === undefined ? '' : block(first)}${rest.map(block).join('')}</li>`;
};

const list = (items: readonly ListItem[]): string => {
  const number = /^\d+/.exec(items[0]?.marker ?? '')?.[0];
  const content = items.map(item).join('');
  return number === undefined ? `<ul>${content}</ul>` : `<ol start="${number}">${content}</ol>`;
};

const block = (node: Block): string => {
  switch (node.type) {
    case 'paragraph':
      return `<p>${inlines(node.children)}</p>`;
    case 'heading':
      return `<h${node.level}>${inlines(node.children)}</h${node.level}>`;
    case 'code':
      return `<pre style="background:#f4f4f4;padding:8px">${escape(node.text)}</pre>`;
    case 'quote':
      return `<blockquote style="border-left:3px solid #ccc;margin-left:0;padding-left:8px">${node.blocks.map(block).join('')}</blockquote>`;
    case 'list':
      return list(node.items);
    case 'table':
      return `<table style="border-collapse:collapse">${row('th', node.header)}${node.rows.map((cells) => row('td', cells)).join('')}</table>`;
    case 'rule':
      return '<hr>';
    default:
      return node satisfies never;
  }
};

/** The HTML part of a mail: no scripts, no pictures from elsewhere, hardly any style. */
export const formatHtml = (markdown: string): string => {
  const source = markdown.toWellFormed();
  const body = parseMarkdown(source).map(block).join('\n') || `<p>${escape(source)}</p>`;
  return `<!doctype html><html><head><meta charset="utf-8"></head><body style="font-family:sans-serif">\n${body}\n</body></html>`;
};

const maxSubject = 70;

/** A subject for a mail that begins a thread: the beginning of what it says. */
export const subjectFor = (markdown: string): string => {
  const line = markdownWords(markdown).split('\n').find((each) => each.trim() !== '')?.trim() ?? '';
  if (line.length <= maxSubject) return line || 'A message for you';
  const cut = line.slice(0, maxSubject);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), maxSubject / 2)).toWellFormed().trimEnd()}…`;
};

/** `Re:` once, however often the thread went back and forth. */
export const answerSubject = (subject: string): string => (/^re\s*:/i.test(subject) ? subject : `Re: ${subject || 'your message'}`);
