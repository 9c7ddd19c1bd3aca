import type { ComponentChildren, VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { parseMarkdown } from '../../src/lib/markdown/parse.ts';
import type { Block, Cell, Inline, ListItem } from '../../src/lib/markdown/tree.ts';
import { CodeBlock } from './code-block.tsx';
import { completeMarkdown } from './growing-markdown.ts';
import { Check } from './icons.tsx';
import { safeUrl } from './safe-url.ts';

const Spoiler = ({ children }: { readonly children: ComponentChildren }): VNode => {
  const [shown, setShown] = useState(false);
  return shown ? (
    <span>{children}</span>
  ) : (
    <button type="button" class="spoiler" aria-label="Hidden text, press to show" onClick={() => setShown(true)}>
      {children}
    </button>
  );
};

const Link = ({ url, children }: { readonly url: string; readonly children: ComponentChildren }): VNode => {
  const href = safeUrl(url);
  if (href === undefined) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
};

const inlines = (children: readonly Inline[]): ComponentChildren => children.map((inline, index) => <InlineNode key={index} inline={inline} />);

/** Images of the web stay links: fetching one would tell its server who reads this. */
const InlineNode = ({ inline }: { readonly inline: Inline }): VNode => {
  switch (inline.type) {
    case 'text':
      return <>{inline.text}</>;
    case 'bold':
      return <strong>{inlines(inline.children)}</strong>;
    case 'italic':
      return <em>{inlines(inline.children)}</em>;
    case 'strike':
      return <s>{inlines(inline.children)}</s>;
    case 'spoiler':
      return <Spoiler>{inlines(inline.children)}</Spoiler>;
    case 'code':
      return <code>{inline.text}</code>;
    case 'link':
      return <Link url={inline.url}>{inlines(inline.children)}</Link>;
    case 'image':
      return <Link url={inline.url}>{inline.alt === '' ? inline.url : inline.alt}</Link>;
    default:
      return inline satisfies never;
  }
};

const Heading = ({ level, children }: { readonly level: number; readonly children: readonly Inline[] }): VNode => {
  const Tag = (['h2', 'h3', 'h4'] as const)[Math.min(level, 3) - 1] ?? 'h4';
  return <Tag>{inlines(children)}</Tag>;
};

const TaskBox = ({ done }: { readonly done: boolean }): VNode => (
  <span class={done ? 'box done' : 'box'} role="img" aria-label={done ? 'Done' : 'To do'}>
    {done && <Check />}
  </span>
);

const Item = ({ item }: { readonly item: ListItem }): VNode => {
  const isTask = item.checked !== undefined;
  return (
    <li class={isTask ? 'task' : undefined}>
      {isTask && <TaskBox done={item.checked === true} />}
      {isTask ? (
        <div>
          <Blocks blocks={item.blocks} />
        </div>
      ) : (
        <Blocks blocks={item.blocks} />
      )}
    </li>
  );
};

const List = ({ items }: { readonly items: readonly ListItem[] }): VNode => {
  const first = Number.parseInt(items[0]?.marker ?? '', 10);
  const content = items.map((item, index) => <Item key={index} item={item} />);
  return Number.isNaN(first) ? <ul>{content}</ul> : <ol start={first}>{content}</ol>;
};

const Table = ({ header, rows }: { readonly header: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }): VNode => (
  <div class="table" tabIndex={0} role="region" aria-label="Table">
    <table>
      <thead>
        <tr>
          {header.map((cell, index) => (
            <th key={index}>{inlines(cell)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {header.map((_, column) => (
              <td key={column}>{inlines(row[column] ?? [])}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const BlockNode = ({ block }: { readonly block: Block }): VNode => {
  switch (block.type) {
    case 'paragraph':
      return <p>{inlines(block.children)}</p>;
    case 'heading':
      return <Heading level={block.level}>{block.children}</Heading>;
    case 'code':
      return <CodeBlock code={block.text} language={block.language} />;
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case 'list':
      return <List items={block.items} />;
    case 'table':
      return <Table header={block.header} rows={block.rows} />;
    case 'rule':
      return <hr />;
    default:
      return block satisfies never;
  }
};

const Blocks = ({ blocks }: { readonly blocks: readonly Block[] }): VNode => (
  <>
    {blocks.map((block, index) => (
      <BlockNode key={index} block={block} />
    ))}
  </>
);

/** Shows markdown as elements. Nothing in the text can become markup, a script or a request. */
export const Markdown = ({ text, growing }: { readonly text: string; readonly growing: boolean }): VNode => {
  const blocks = useMemo(() => parseMarkdown(growing ? completeMarkdown(text) : text), [text, growing]);
  return <Blocks blocks={blocks} />;
};
