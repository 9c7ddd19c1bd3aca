import { bestCut, openSource } from './cut.ts';
import type { Cut, Source } from './cut.ts';
import { extentAround } from './outline.ts';
import type { CodeBlock } from './outline.ts';

export interface SplitOptions {
  /** At least 20, in the unit of `measure`. */
  readonly limit: number;
  /** Must not be smaller for a longer text, apart from markup that is still open. Called a few times per chunk, never per character. */
  measure(markdown: string): number;
}

interface Piece {
  readonly start: number;
  readonly end: number;
}

interface Job extends SplitOptions {
  readonly source: Source;
  /** As wide as the widest indicator will be; empty for none. */
  readonly label: string;
  readonly mostPieces: number;
  /** The line that reopens a block; undefined when the limit has no room for its fences. */
  reopening(block: CodeBlock): string | undefined;
}

const mostDigits = 4;

/**
 * Cuts Markdown into messages. Every chunk is within the limit, closes and reopens the code block it is cut in, and ends in ` (i/n)`
 * when there are several; without those the chunks are the text, but for one newline or space at each cut and for chunks of nothing but
 * white space. The indicator is left out where it would leave no room; only a single character can exceed the limit.
 */
export const splitMarkdown = (text: string, options: SplitOptions): string[] => {
  const size = options.measure(text);
  if (size <= options.limit) return [text];
  const source = openSource(text, options.limit);
  for (let digits = String(Math.ceil(size / options.limit)).length; digits <= mostDigits; digits += 1) {
    const nines = '9'.repeat(digits);
    const job = newJob(source, options, { label: `(${nines}/${nines})`, mostPieces: Number(nines) });
    const pieces = cutAll(job);
    if (pieces !== undefined) return pieces.map((piece, i) => show(job, piece, pieces.length === 1 ? '' : `(${i + 1}/${pieces.length})`));
  }
  const job = newJob(source, options, { label: '', mostPieces: Infinity });
  return (cutAll(job) ?? []).map((piece) => show(job, piece, ''));
};

const newJob = (source: Source, { limit, measure }: SplitOptions, { label, mostPieces }: Pick<Job, 'label' | 'mostPieces'>): Job => {
  const known = new Map<CodeBlock, string | undefined>();
  const reopening = (block: CodeBlock): string | undefined => {
    const frame = (opening: string): number => measure(`${opening}\n\n${block.closing}\n${label}`);
    if (frame(block.opening) <= limit / 2) return block.opening;
    return frame(block.bareOpening) <= (limit * 3) / 4 ? block.bareOpening : undefined;
  };
  return {
    source,
    limit,
    measure,
    label,
    mostPieces,
    reopening(block) {
      if (!known.has(block)) known.set(block, reopening(block));
      return known.get(block);
    },
  };
};

/** Undefined when there is no room for the indicator, or not for as many digits as the number of pieces has. */
const cutAll = (job: Job): readonly Piece[] | undefined => {
  const { text } = job.source;
  const pieces: Piece[] = [];
  for (let start = 0, room = job.limit; start < text.length; ) {
    const max = furthestEnd(job, start, room);
    if (max === start && job.label !== '') return undefined;
    const cut = fittingCut(job, start, Math.max(max, start + 1));
    if (text.slice(start, cut.end).trim() !== '' && pieces.push({ start, end: cut.end }) > job.mostPieces) return undefined;
    room = Math.max(max - start, 1);
    start = cut.next;
  }
  return pieces;
};

/** A cut through markup can make the piece count more than the longer one it was cut from, so the cut is measured again. */
const fittingCut = (job: Job, start: number, max: number): Cut => {
  const { length } = job.source.text;
  if (max >= length) return { end: length, next: length };
  for (let end = max; end > start; ) {
    const cut = bestCut(job.source, start, end);
    if (cut.end >= max || fits(job, start, cut.end)) return cut;
    end = Math.min(cut.end - 1, start + Math.floor((end - start) * 0.9));
  }
  return { end: max, next: max };
};

const fits = (job: Job, start: number, end: number): boolean => sizeOf(job, start, end) <= job.limit;

/** A block that cannot be reopened makes an indicator impossible. */
const sizeOf = (job: Job, start: number, end: number): number => {
  const lost = job.label !== '' && [blockAtStart(job.source, start), blockAtEnd(job.source, end)].some((block) => block !== undefined && job.reopening(block) === undefined);
  return lost ? Infinity : job.measure(show(job, { start, end }, job.label));
};

/** The furthest end that fits, found with few measurements: by proportion first, then by halving, and not to the last character. */
const furthestEnd = (job: Job, start: number, room: number): number => {
  const { text } = job.source;
  const tolerance = Math.max(1, Math.floor(job.limit / 64));
  let fit = start;
  let unfit: number | undefined;
  let probe = Math.min(text.length, start + room);
  for (let round = 0; fit < text.length; round += 1) {
    const at = outsideMarkup(job.source, probe, unfit ?? text.length + 1);
    const size = sizeOf(job, start, at);
    if (size <= job.limit) fit = at;
    else unfit = at;
    if (fit === at && job.limit - size < tolerance) break;
    if (unfit !== undefined && unfit - fit <= (fit === start ? 1 : tolerance)) break;
    const proportional = start + Math.floor((at - start) * Math.min(4, job.limit / Math.max(1, size)) * 0.99);
    const wanted = unfit === undefined ? Math.max(proportional, at + tolerance * 2 ** round) : round < 4 ? proportional : (fit + unfit) >> 1;
    probe = Math.min(Math.max(wanted, fit + 1), (unfit ?? text.length + 1) - 1);
  }
  return fit;
};

/** Markup that is still open counts for more than it will, so an end inside it is tried behind it where that is possible. */
const outsideMarkup = (source: Source, at: number, below: number): number => {
  const range = source.rangeAround(at);
  return range !== undefined && range.end < below ? range.end : at;
};

const blockAtStart = ({ outline }: Source, start: number): CodeBlock | undefined => {
  const block = extentAround(outline.codeBlocks, start);
  return block !== undefined && start < block.end ? block : undefined;
};

const blockAtEnd = ({ outline }: Source, end: number): CodeBlock | undefined => {
  const block = extentAround(outline.codeBlocks, end);
  return block !== undefined && (end < block.end || !block.closed) ? block : undefined;
};

/** The piece as it is sent: code blocks closed and reopened, the indicator where it does not change the meaning of its line. */
const show = (job: Job, { start, end }: Piece, label: string): string => {
  const { source } = job;
  const before = blockAtStart(source, start);
  const after = blockAtEnd(source, end);
  const opening = before === undefined ? undefined : job.reopening(before);
  const head = before === undefined || opening === undefined ? '' : `${opening}\n${source.text[start - 1] === '\n' ? '' : before.quote}`;
  const body = head + source.text.slice(start, end);
  const closed = after === undefined || job.reopening(after) === undefined ? body : `${body}${body.endsWith('\n') ? '' : '\n'}${after.closing}`;
  return label === '' ? closed : closed + separator(closed) + label;
};

/** Fences, rules and rows of tables mean something as whole lines. */
const wholeLine = /^[\s>]*(?:`{3}|~{3}|\||([-*_])(?:[ \t]*\1){2,}[ \t]*$)/;

const separator = (chunk: string): string => {
  if (chunk.endsWith('\n')) return '';
  return wholeLine.test(chunk.slice(chunk.lastIndexOf('\n') + 1)) ? '\n' : ' ';
};
