import { parseMarkdown } from '../../lib/markdown/parse.ts';
import type { Block, Cell, Inline, ListItem, TextStyle } from '../../lib/markdown/tree.ts';

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escape = (words: string): string => words.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign);

const lines = (html: string): string => html.replaceAll('\n', '<br>');

/** https://spec.matrix.org/latest/appendices/#user-identifiers */
const userId = /(?<![\w@/])@[\w.=\-/+]+:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?/gi;

/** Words, with the people named in them as links that clients show as their names. */
const words = (text: string): string => {
  let html = '';
  let from = 0;
  for (const match of text.matchAll(userId)) {
    html += `${escape(text.slice(from, match.index))}<a href="https://matrix.to/#/${escape(encodeURI(match[0]))}">${escape(match[0])}</a>`;
    from = match.index + match[0].length;
  }
  return lines(html + escape(text.slice(from)));
};

const tags: Readonly<Record<TextStyle, readonly [string, string]>> = {
  bold: ['<strong>', '</strong>'],
  italic: ['<em>', '</em>'],
  strike: ['<del>', '</del>'],
  spoiler: ['<span data-mx-spoiler>', '</span>'],
};

/** Other schemes are removed by clients, so their address is shown. */
const linkable = /^(?:https?|ftp|mailto|magnet|matrix):\S+$/i;

const link = (label: string, url: string): string => (linkable.test(url) ? `<a href="${escape(url)}">${label}</a>` : label === escape(url) || url === '' ? label : `${label} (${escape(url)})`);

const inline = (node: Inline): string => {
  switch (node.type) {
    case 'text':
      return words(node.text);
    case 'code':
      return `<code>${escape(node.text)}</code>`;
    case 'link':
      return link(node.children.map(bareInline).join('') || escape(node.url), node.url);
    case 'image':
      return link(escape(node.alt || node.url), node.url);
    case 'bold':
    case 'italic':
    case 'strike':
    case 'spoiler':
      return tags[node.type].join(inlines(node.children));
    default:
      return node satisfies never;
  }
};

/** The label of a link holds no other link. */
const bareInline = (node: Inline): string => (node.type === 'text' ? lines(escape(node.text)) : inline(node));

const inlines = (nodes: readonly Inline[]): string => nodes.map(inline).join('');

const item = ({ checked, blocks }: ListItem): string => {
  const box = checked === undefined ? '' : checked ? '☑ ' : '☐ ';
  return `<li>${box}${tight(blocks)}</li>`;
};

const row = (cells: readonly Cell[], tag: 'th' | 'td'): string => `<tr>${cells.map((cell) => `<${tag}>${inlines(cell)}</${tag}>`).join('')}</tr>`;

const listHtml = (items: readonly ListItem[]): string => {
  const first = Number.parseInt(items[0]?.marker ?? '', 10);
  const inner = items.map(item).join('');
  if (Number.isNaN(first)) return `<ul>${inner}</ul>`;
  return `<ol${first === 1 ? '' : ` start="${first}"`}>${inner}</ol>`;
};

const block = (node: Block): string => {
  switch (node.type) {
    case 'paragraph':
      return `<p>${inlines(node.children)}</p>`;
    case 'heading':
      return `<h${node.level}>${inlines(node.children)}</h${node.level}>`;
    case 'code':
      return `<pre><code${node.language === '' ? '' : ` class="language-${escape(node.language)}"`}>${escape(node.text)}</code></pre>`;
    case 'quote':
      return `<blockquote>${tight(node.blocks)}</blockquote>`;
    case 'list':
      return listHtml(node.items);
    case 'table':
      return `<table><thead>${row(node.header, 'th')}</thead><tbody>${node.rows.map((cells) => row(cells, 'td')).join('')}</tbody></table>`;
    case 'rule':
      return '<hr>';
    default:
      return node satisfies never;
  }
};

/** A paragraph that stands alone needs no frame. */
const tight = (blocks: readonly Block[]): string => {
  const [first, ...rest] = blocks;
  if (first?.type !== 'paragraph') return blocks.map(block).join('');
  return rest.every(({ type }) => type === 'list') ? inlines(first.children) + rest.map(block).join('') : blocks.map(block).join('');
};

/** The Markdown as the HTML that Matrix clients show. Whatever HTML it holds is text. */
export const toHtml = (markdown: string): string => tight(parseMarkdown(markdown.toWellFormed()));

/** The HTML, unless it shows nothing that the words alone do not show. */
export const htmlOf = (markdown: string): string | undefined => {
  const html = toHtml(markdown);
  return html === '' || html === lines(escape(markdown.toWellFormed().trim())) ? undefined : html;
};

/** Who is named by id, in the order they first appear. */
export const mentionedIn = (text: string): readonly string[] => [...new Set([...text.matchAll(userId)].map(([id]) => id))];

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** What a text takes in an event: the bytes of its words and of its HTML, as JSON writes them. */
export const measureMatrix = (markdown: string): number => jsonBytes(markdown.toWellFormed()) + jsonBytes(toHtml(markdown));
