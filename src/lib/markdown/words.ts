import { inlineText } from './inlines.ts';
import { parseMarkdown } from './parse.ts';
import type { Block, Cell } from './tree.ts';

const cellsText = (cells: readonly Cell[]): string => cells.map(inlineText).join(' ');

const blockText = (block: Block): string => {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return inlineText(block.children);
    case 'code':
      return block.text;
    case 'quote':
      return blocksText(block.blocks);
    case 'list':
      return block.items.map((item) => blocksText(item.blocks)).join('\n');
    case 'table':
      return [block.header, ...block.rows].map(cellsText).join('\n');
    case 'rule':
      return '';
    default:
      return block satisfies never;
  }
};

const blocksText = (blocks: readonly Block[]): string => blocks.map((block) => `${'\n'.repeat(block.gap)}${blockText(block)}`).join('\n');

/** The words a person sees when this markdown is shown. */
export const markdownWords = (markdown: string): string => blocksText(parseMarkdown(markdown)).trim();
