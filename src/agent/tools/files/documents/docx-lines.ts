import { readXml } from './xml.ts';
import type { XmlPiece } from './xml.ts';
import { BadArchive } from './zip.ts';
import type { Zip } from './zip.ts';

/** What of a document has been opened and not closed. */
interface Reading {
  paragraph: string;
  prefix: string;
  /** Cells of the row under way, in the outermost table. */
  cells: string[];
  tables: number;
  inText: boolean;
  /** Depth below what is said a second time for older programs. */
  skipped: number;
}

const headingOf = (style: string | undefined): string => {
  if (style === 'Title') return '# ';
  const level = /^heading ?(\d)$/i.exec(style ?? '')?.[1];
  return level === undefined ? '' : `${'#'.repeat(Math.min(6, Math.max(1, Number(level))))} `;
};

const opened = (at: Reading, piece: Extract<XmlPiece, { type: 'open' }>): void => {
  switch (piece.name) {
    case 'tbl':
      at.tables += 1;
      break;
    case 'tr':
      if (at.tables === 1) at.cells = [];
      break;
    case 'tc':
      if (at.tables === 1) at.cells.push('');
      break;
    case 'pStyle':
      at.prefix = headingOf(piece.attribute('val')) || at.prefix;
      break;
    case 'numPr':
      at.prefix ||= '- ';
      break;
    case 'tab':
      at.paragraph += '\t';
      break;
    case 'br':
    case 'cr':
      at.paragraph += '\n';
      break;
    case 't':
      at.inText = true;
      break;
    default:
  }
};

const oneLine = (cell: string): string => cell.split('\n').map((part) => part.trim()).filter((part) => part !== '').join(' ');

/** The lines that are finished with this. */
const closed = (at: Reading, name: string): readonly string[] => {
  if (name === 't') at.inText = false;
  if (name === 'tbl') at.tables -= 1;
  if (name === 'tr' && at.tables === 1) return [at.cells.map(oneLine).join(' | ')];
  if (name !== 'p') return [];
  const text = at.prefix + at.paragraph;
  at.paragraph = '';
  at.prefix = '';
  if (at.tables === 0) return text.split('\n');
  at.cells.push(`${at.cells.pop() ?? ''} ${text}`);
  return [];
};

/** The text of a Word document: a line for each paragraph and each row of a table. */
export async function* docxLines(zip: Zip): AsyncGenerator<string, void, undefined> {
  const document = await zip.read('word/document.xml');
  if (document === undefined) throw new BadArchive('there is no document in it');
  const at: Reading = { paragraph: '', prefix: '', cells: [], tables: 0, inText: false, skipped: 0 };
  for (const piece of readXml(document)) {
    if (piece.type !== 'text' && piece.name === 'Fallback') at.skipped += piece.type === 'open' ? 1 : -1;
    if (at.skipped > 0) continue;
    if (piece.type === 'text') at.paragraph += at.inText ? piece.text : '';
    else if (piece.type === 'open') opened(at, piece);
    else yield* closed(at, piece.name);
  }
}
