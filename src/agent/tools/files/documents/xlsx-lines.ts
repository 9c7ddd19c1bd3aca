import { readXml } from './xml.ts';
import { BadArchive } from './zip.ts';
import type { Zip } from './zip.ts';

interface Book {
  readonly sheets: readonly { readonly name: string; readonly path: string }[];
  readonly strings: readonly string[];
  /** Which of the cell styles show a date. */
  readonly dates: readonly boolean[];
  readonly from1904: boolean;
}

const dayMs = 86_400_000;
/** What comes further to the right is hardly meant to be read. */
const mostColumns = 256;
const longestCell = 32_767;
const longestFormat = 255;

const isDateFormat = (id: number, codes: ReadonlyMap<number, string>): boolean => {
  if ((id >= 14 && id <= 22) || (id >= 45 && id <= 47)) return true;
  const code = codes.get(id)?.slice(0, longestFormat).replaceAll(/"[^"]*"|\\.|\[[^\]]*\]/g, '') ?? '';
  return /[ymdhs]/i.test(code) && !/[0#?]/.test(code.replaceAll(/s\.0+/gi, ''));
};

const readDates = (styles: string): readonly boolean[] => {
  const codes = new Map<number, string>();
  const dates: boolean[] = [];
  let inCells = false;
  for (const piece of readXml(styles)) {
    if (piece.type === 'text') continue;
    if (piece.name === 'cellXfs') inCells = piece.type === 'open';
    if (piece.type === 'close') continue;
    if (piece.name === 'numFmt') codes.set(Number(piece.attribute('numFmtId')), piece.attribute('formatCode') ?? '');
    if (piece.name === 'xf' && inCells) dates.push(isDateFormat(Number(piece.attribute('numFmtId') ?? 0), codes));
  }
  return dates;
};

/** Texts that cells share; how they are pronounced is left out. */
const readStrings = (xml: string): readonly string[] => {
  const strings: string[] = [];
  let [inText, inSound] = [false, false];
  for (const piece of readXml(xml)) {
    if (piece.type === 'text') {
      if (inText && !inSound) strings.push((strings.pop() ?? '') + piece.text);
      continue;
    }
    if (piece.name === 't') inText = piece.type === 'open';
    if (piece.name === 'rPh') inSound = piece.type === 'open';
    if (piece.name === 'si' && piece.type === 'open') strings.push('');
  }
  return strings;
};

const readBook = async (zip: Zip): Promise<Book> => {
  const book = await zip.read('xl/workbook.xml');
  if (book === undefined) throw new BadArchive('there is no workbook in it');
  const targets = new Map<string, string>();
  for (const piece of readXml((await zip.read('xl/_rels/workbook.xml.rels')) ?? '')) if (piece.type === 'open' && piece.name === 'Relationship') targets.set(piece.attribute('Id') ?? '', piece.attribute('Target') ?? '');
  const sheets: { name: string; path: string }[] = [];
  let from1904 = false;
  for (const piece of readXml(book)) {
    if (piece.type !== 'open') continue;
    if (piece.name === 'workbookPr') from1904 = ['1', 'true'].includes(piece.attribute('date1904') ?? '');
    const target = piece.name === 'sheet' ? targets.get(piece.attribute('id') ?? '') : undefined;
    if (target !== undefined) sheets.push({ name: piece.attribute('name') ?? '', path: target.startsWith('/') ? target.slice(1) : `xl/${target}` });
  }
  return { sheets, strings: readStrings((await zip.read('xl/sharedStrings.xml')) ?? ''), dates: readDates((await zip.read('xl/styles.xml')) ?? ''), from1904 };
};

/** `2026-04-01`, with the time when there is one. Before March 1900 the original counts a day that never was. */
const dateOf = (serial: number, from1904: boolean): string => {
  const ms = Math.round((serial * dayMs) / 1000) * 1000 + (from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30));
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return String(serial);
  const [day = '', time = ''] = date.toISOString().replace('.000Z', '').split('T');
  if (serial >= 0 && serial < 1) return time;
  return time === '00:00:00' ? day : `${day} ${time}`;
};

/** `B7` is column 1. */
const columnOf = (ref: string | undefined, otherwise: number): number => {
  const letters = /^[A-Z]{1,3}/.exec(ref ?? '')?.[0];
  return letters === undefined ? otherwise : [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
};

interface Cell {
  readonly kind: string | undefined;
  readonly isDate: boolean;
  readonly column: number;
  value: string;
}

const shown = ({ kind, isDate, value }: Cell, book: Book): string => {
  if (kind === 's') return book.strings[Number(value)] ?? '';
  if (kind === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  if ((kind === undefined || kind === 'n') && isDate && value !== '') return dateOf(Number(value), book.from1904);
  return value;
};

function* sheetLines(xml: string, book: Book): Generator<string, void, undefined> {
  let row: string[] = [];
  let number = 0;
  let cell: Cell | undefined;
  let inValue = false;
  for (const piece of readXml(xml)) {
    if (piece.type === 'text') {
      if (inValue && cell !== undefined) cell.value += piece.text;
      continue;
    }
    const opens = piece.type === 'open';
    if (piece.name === 'v' || piece.name === 't') inValue = opens;
    if (piece.name === 'row' && opens) {
      number = Number(piece.attribute('r') ?? number + 1);
      row = [];
    }
    if (piece.name === 'c' && opens) cell = { kind: piece.attribute('t'), isDate: book.dates[Number(piece.attribute('s') ?? -1)] ?? false, column: columnOf(piece.attribute('r'), row.length), value: '' };
    if (piece.name === 'c' && !opens && cell !== undefined) {
      if (cell.column < mostColumns) {
        while (row.length < cell.column) row.push('');
        row[cell.column] = shown(cell, book).slice(0, longestCell).replaceAll(/[\t\r\n]+/g, ' ');
      }
      cell = undefined;
    }
    if (piece.name === 'row' && !opens && row.some((value) => value !== '')) yield `${number}: ${row.join('\t').trimEnd()}`;
  }
}

/** The cells of a workbook: a line for each row that has something in it, with its number and, from column A on, tabs between the cells. */
export async function* xlsxLines(zip: Zip): AsyncGenerator<string, void, undefined> {
  const book = await readBook(zip);
  for (const { name, path } of book.sheets) {
    yield `[sheet ${JSON.stringify(name)}]`;
    yield* sheetLines((await zip.read(path)) ?? '', book);
  }
}
