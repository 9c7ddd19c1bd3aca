import { dlopen, toString } from 'node:ffi';
import { fileURLToPath } from 'node:url';

export interface Entity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
}

/** What Telegram's own parser says about a MarkdownV2 text. */
export type Verdict = { readonly accepted: true; readonly shows: string; readonly entities: readonly Entity[] } | { readonly accepted: false; readonly error: string };

interface Formatted {
  readonly '@type': 'formattedText';
  readonly text: string;
  readonly entities: readonly { readonly offset: number; readonly length: number; readonly type: { readonly '@type': string; readonly url?: string; readonly language?: string } }[];
}

const libraryPath = (): string | undefined => {
  try {
    return fileURLToPath(import.meta.resolve('@prebuilt-tdlib/linux-x64-glibc/libtdjson.so'));
  } catch {
    return undefined;
  }
};

const library = libraryPath();

const here = `${process.platform}-${process.arch}`;

/** Why Telegram's own parser cannot judge here, for the skip message of a test. Where there is a build of it, it has to. */
export const judgeMissing: string | undefined = library === undefined && here !== 'linux-x64' ? `there is no tdlib for ${here}` : undefined;

const RTLD_NOW = 2;
const RTLD_NODELETE = 0x1000;

/** Loads tdlib. It cannot be unloaded without crashing, so it is pinned in memory before it is opened. */
export const openJudge = (): ((markdownV2: string) => Verdict) => {
  if (library === undefined) throw new Error('tdlib is not installed');
  dlopen('libc.so.6', { dlopen: { arguments: ['string', 'int32'], return: 'pointer' } }).functions.dlopen(library, RTLD_NOW | RTLD_NODELETE);
  const { functions } = dlopen(library, { td_execute: { arguments: ['string'], return: 'pointer' } });
  const execute = (request: object): unknown => JSON.parse(toString(functions.td_execute(JSON.stringify(request))) ?? 'null');
  execute({ '@type': 'setLogVerbosityLevel', new_verbosity_level: 0 });
  return (text) => {
    const answer = execute({ '@type': 'parseTextEntities', text, parse_mode: { '@type': 'textParseModeMarkdown', version: 2 } }) as Formatted | { '@type': 'error'; message: string };
    if (answer['@type'] === 'error') return { accepted: false, error: answer.message };
    const entities = answer.entities.map(({ offset, length, type: { '@type': type, ...facts } }) => ({ type: type.replace('textEntityType', ''), offset, length, ...facts }));
    return { accepted: true, shows: answer.text, entities };
  };
};
