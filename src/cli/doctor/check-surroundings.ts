import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { broken, ok, skipped, warning } from './finding.ts';
import type { Examination } from './examination.ts';
import type { Finding } from './finding.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const leastNode = 26;
const leastColumns = 60;
/** Twice what the log keeps. */
const mostLogBytes = 40 * 1024 * 1024;

export const checkNode = (): Promise<readonly Finding[]> => {
  const { node } = process.versions;
  const isEnough = Number(node.split('.')[0]) >= leastNode;
  return Promise.resolve([isEnough ? ok(`Node ${node} on ${process.platform}-${process.arch}`) : broken(`Node ${node} is too old`, `npm install without --omit=optional brings Node ${leastNode} along`)]);
};

export const checkPage = (): Promise<readonly Finding[]> =>
  Promise.resolve([existsSync(join(root, 'web', 'dist', 'index.html')) ? ok('The web page is built') : warning('The web page is not built', 'The next start builds it; so does npm run build:web')]);

const isUtf8 = ({ terminal }: Examination): boolean => /utf-?8/i.test(['LC_ALL', 'LC_CTYPE', 'LANG'].map((name) => terminal.env[name] ?? '').find((value) => value !== '') ?? '');

/** What the terminal chat would have to live with. */
export const checkTerminal = (examined: Examination): Promise<readonly Finding[]> => {
  const { stream, env } = examined.terminal;
  if (stream?.isTTY !== true) return Promise.resolve([skipped('The output is not a terminal')]);
  const { columns } = stream;
  const findings: readonly Finding[] = [
    ...(env['TERM'] === 'dumb' ? [warning('TERM is dumb: the chat only adds lines', 'Set TERM, for example to xterm-256color')] : []),
    ...(columns < leastColumns ? [warning(`The terminal is ${columns} columns wide`, `Make it ${leastColumns} or wider`)] : []),
    ...(process.platform !== 'win32' && !isUtf8(examined) ? [warning('The locale is not UTF-8: lines and signs may look wrong', 'export LANG=C.UTF-8')] : []),
  ];
  return Promise.resolve(findings.length === 0 ? [ok(`${columns} columns, ${stream.hasColors() ? 'colours' : 'no colours'}, UTF-8`)] : findings);
};

export const checkLog = async ({ home }: Examination): Promise<readonly Finding[]> => {
  const folder = join(home, 'logs');
  if (!existsSync(folder)) return [skipped('There is no log yet')];
  const sizes = await Promise.all((await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile()).map(async (entry) => (await stat(join(folder, entry.name))).size));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const text = `${(bytes / (1024 * 1024)).toFixed(1)} MB in ${folder}`;
  return [bytes > mostLogBytes ? warning(text, 'Remove what you do not need; the gateway itself keeps 20 MB') : ok(text)];
};
