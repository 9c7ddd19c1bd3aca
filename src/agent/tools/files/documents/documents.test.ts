import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { ToolError } from '../../contract.ts';
import { newDesk } from '../files.test-support.ts';
import type { Desk } from '../files.test-support.ts';
import { docxOf, zipOf } from './documents.test-support.ts';
import { readXml } from './xml.ts';
import { openZip } from './zip.ts';

let desk: Desk;
before(async () => {
  desk = await newDesk();
});
after(() => desk[Symbol.asyncDispose]());

let sessions = 0;
const read = async (name: string, bytes: Uint8Array | string, more: Readonly<Record<string, unknown>> = {}): Promise<string> => {
  await desk.put(name, bytes);
  sessions += 1;
  return desk.run('read_file', { path: name, ...more }, { context: desk.context({ sessionId: `d${sessions}` }) });
};
const refusal = (message: RegExp) => ({ name: 'ToolError', code: 'bad_arguments', message });

const p = (text: string, properties = ''): string => `<w:p>${properties === '' ? '' : `<w:pPr>${properties}</w:pPr>`}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

test('a Word document is read paragraph by paragraph, with its headings, lists and tables', async () => {
  const body = [
    p('Plan', '<w:pStyle w:val="Heading1"/>'),
    '<w:p><w:r><w:t>Tom &amp; </w:t></w:r><w:r><w:t>Ann&#x21;</w:t></w:r><w:r><w:tab/><w:t>now</w:t><w:br/><w:t>later</w:t></w:r><w:del><w:r><w:delText>never</w:delText></w:r></w:del></w:p>',
    '<w:p/>',
    p('milk', '<w:numPr><w:ilvl w:val="0"/></w:numPr>'),
    `<w:tbl><w:tr><w:tc>${p('name')}</w:tc><w:tc>${p('two')}${p('lines')}</w:tc></w:tr><w:tr><w:tc>${p('a')}<w:tbl><w:tr><w:tc>${p('inner')}</w:tc></w:tr></w:tbl></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>`,
    `<mc:AlternateContent><mc:Choice>${p('once')}</mc:Choice><mc:Fallback>${p('twice')}</mc:Fallback></mc:AlternateContent>`,
  ].join('\n  ');
  assert.equal(await read('plan.docx', docxOf(body)), ['1|[The text of a Word document; its file looks different.]', '2|# Plan', '3|Tom & Ann!\tnow', '4|later', '5|', '6|- milk', '7|name | two lines', '8|a inner | ', '9|once'].join('\n'));
});

test('long documents come in parts, and secrets in them are hidden', async () => {
  const bytes = docxOf(Array.from({ length: 30 }, (_, index) => p(`line ${index + 1} hunter22`)).join(''));
  assert.equal(await read('LONG.DOCX', bytes, { offset: 11, limit: 2 }), '11|line 10 ***\n12|line 11 ***\n[Lines 11-12 of 31. Continue with offset 13.]');
});

const workbook = (sheets: string, more: Readonly<Record<string, string>> = {}): Buffer =>
  zipOf({
    'xl/workbook.xml': '<workbook xmlns:r="r"><workbookPr/><sheets><sheet name="Sums &amp; more" sheetId="1" r:id="rId1"/><sheet name="Empty" sheetId="2" r:id="rId2"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Target="/xl/worksheets/sheet2.xml"/></Relationships>',
    'xl/sharedStrings.xml': '<sst><si><t>item</t></si><si><r><t>pri</t></r><r><t>ce</t></r><rPh><t>said</t></rPh></si></sst>',
    'xl/styles.xml': '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd&quot;0&quot;"/><numFmt numFmtId="165" formatCode="0.00 &quot;days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="20"/></cellXfs></styleSheet>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${sheets}</sheetData></worksheet>`,
    'xl/worksheets/sheet2.xml': '<worksheet><sheetData/></worksheet>',
    ...more,
  });

test('a workbook is read row by row, each cell in its column, dates as dates', async () => {
  const rows = [
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>',
    '<row r="2"><c r="A2" s="0"/></row>',
    '<row r="5"><c r="A5" t="inlineStr"><is><t>two\nlines</t></is></c><c r="B5" s="1"><v>46113</v></c><c r="C5" s="1"><v>46113.75</v></c><c r="D5" s="2"><v>46113</v></c><c r="E5" s="3"><v>0.5</v></c><c r="F5" t="b"><v>1</v></c><c r="G5"><f>A1+1</f><v>3.5</v></c></row>',
    '<row><c><v>7</v></c><c><v>8</v></c><c r="XFD6"><v>9</v></c></row>',
  ].join('');
  assert.equal(
    await read('sums.xlsx', workbook(rows)),
    ['1|[The text of an Excel workbook; its file looks different.]', '2|[sheet "Sums & more"]', '3|1: item\t\tprice', '4|5: two lines\t2026-04-01\t2026-04-01 18:00:00\t46113\t12:00:00\tTRUE\t3.5', '5|6: 7\t8', '6|[sheet "Empty"]'].join('\n'),
  );
});

test('a notebook is read cell by cell with what the cells have put out', async () => {
  const cells = [
    { cell_type: 'markdown', source: ['# Title\n', 'words'], metadata: {} },
    { cell_type: 'code', source: 'print(1)\n1/0', outputs: [{ output_type: 'stream', name: 'stdout', text: ['1\n'] }, { output_type: 'error', ename: 'ZeroDivisionError', evalue: 'x', traceback: ['\u001B[31mZeroDivisionError\u001B[0m: x'] }] },
    { cell_type: 'code', source: 'plot()', outputs: [{ output_type: 'display_data', data: { 'image/png': 'iVBOR' } }, { output_type: 'unheard_of' }] },
  ];
  assert.equal(
    await read('work.ipynb', JSON.stringify({ nbformat: 4, cells })),
    ['[The text of a notebook; its file looks different.]', '[cell 1, markdown]', '# Title', 'words', '[cell 2, code]', 'print(1)', '1/0', '[output of cell 2]', '1', '', 'ZeroDivisionError: x', '[cell 3, code]', 'plot()', '[output of cell 3]', '[image/png]'].map((line, index) => `${index + 1}|${line}`).join('\n'),
  );
  assert.equal(await read('other.ipynb', '{"cells": 1}'), '1|{"cells": 1}', 'what is no notebook is shown as it is');
  assert.equal(await read('broken.ipynb', '{'), '1|{');
});

test('what is damaged, too large or no document is refused with the way out', async () => {
  const good = docxOf(p('words'));
  for (const [name, bytes, why] of [
    ['not.docx', Buffer.from('just words'), /cannot be read as a Word document: it is damaged\. Convert it to text first/],
    ['cut.docx', good.subarray(0, good.length - 30), /it is damaged/],
    ['mixed.docx', Buffer.concat([good.subarray(0, 60), Buffer.alloc(40, 7), good.subarray(100)]), /it is damaged|there is no document/],
    ['empty.docx', zipOf({ 'a.txt': 'a' }), /there is no document in it/],
    ['empty.xlsx', zipOf({ 'a.txt': 'a' }), /there is no workbook in it/],
    ['bomb.docx', zipOf({ 'word/document.xml': Buffer.alloc(17 * 1024 * 1024, ' ') }), /it holds more than can be read here/],
  ] as const) await assert.rejects(read(name, bytes), refusal(why), name);
  await assert.rejects(read('archive.zip', good), refusal(/is a ZIP archive/));
});

test('whatever is wrong with the bytes of a document is said in words', async () => {
  const good = [docxOf(p('words')), workbook('<row r="1"><c r="A1" t="s"><v>0</v></c></row>')];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...good), fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 8 }), fc.nat(), async (bytes, changes, cut) => {
      const broken = Buffer.from(bytes.subarray(0, cut % 3 === 0 ? cut % bytes.length : undefined));
      for (const [at, value] of changes) if (broken.length > 0) broken[at % broken.length] = value;
      await read(bytes === good[0] ? 'fuzz.docx' : 'fuzz.xlsx', broken).catch((error: unknown) => assert.ok(error instanceof ToolError, String(error)));
    }),
    { numRuns: 300 },
  );
});

test('a string that is told again and again does not fill the memory', async () => {
  const rows = Array.from({ length: 300 }, (_, row) => `<row r="${row + 1}">${'<c t="s"><v>0</v></c>'.repeat(256)}</row>`).join('');
  const bytes = workbook(rows, { 'xl/sharedStrings.xml': `<sst><si><t>${'x'.repeat(1_000_000)}</t></si></sst>` });
  assert.match(await read('copies.xlsx', bytes, { offset: 4, limit: 1 }), /\[The rest is left out, because it is too long\.\]/);
});

test('every file of an archive can be had, also one that is not packed', async () => {
  const zip = openZip(zipOf({ 'a.txt': 'words', 'b/ü.txt': 'more of them, packed' }));
  assert.deepEqual([await zip.read('a.txt'), await zip.read('b/ü.txt'), await zip.read('c')], ['words', 'more of them, packed', undefined]);
});

test('XML is read piece by piece, and in one pass even when nothing in it is closed', () => {
  const pieces = [...readXml(`<?xml version="1.0"?><!DOCTYPE a><a:b c:d="1 &gt; 0" e='>'>x<![CDATA[<y>]]><!-- <z> --><f/>&unknown;</a:b>`)];
  assert.deepEqual(pieces.map((piece) => (piece.type === 'text' ? piece.text : `${piece.type} ${piece.name}`)), ['open b', 'x', '<y>', 'open f', 'close f', '&unknown;', 'close b']);
  const [first] = pieces;
  assert.ok(first?.type === 'open');
  assert.deepEqual([first.attribute('d'), first.attribute('e'), first.attribute('x')], ['1 > 0', '>', undefined]);
  for (const endless of ['<!--', '<![CDATA[', '<?', '<a "', '<a ', '<!']) assert.equal([...readXml(endless.repeat(200_000))].length, 0, endless);
});
