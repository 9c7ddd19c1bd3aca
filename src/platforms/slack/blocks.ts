import type { OutboundMessage } from '../../core/message.ts';
import { escapeSlack, formatMrkdwn } from './format.ts';
import { actionPrefix } from './parse.ts';

type Block = Readonly<Record<string, unknown>>;

/** https://docs.slack.dev/reference/block-kit/blocks */
const maxSection = 3000;
const maxLabel = 75;
const maxInRow = 25;
const maxRows = 40;

const fence = '```';

/** Pieces that each fit into a section, cut between lines where it goes; code that is cut stays code. */
const intoSections = (text: string): readonly string[] => {
  const pieces: string[] = [];
  let piece = '';
  let inCode = false;
  const room = maxSection - 2 * (fence.length + 1);
  const flush = (): void => {
    if (piece !== '') pieces.push(inCode ? `${piece}\n${fence}` : piece);
    piece = inCode ? fence : '';
  };
  const lines = text.split('\n').flatMap((line) => line.match(new RegExp(`.{1,${room - fence.length - 1}}`, 'gsu')) ?? ['']);
  for (const line of lines) {
    if (piece.length + 1 + line.length > room) flush();
    piece = piece === '' ? line : `${piece}\n${line}`;
    if (line.split(fence).length % 2 === 0) inCode = !inCode;
  }
  if (piece.trim() !== '' && piece !== fence) pieces.push(piece);
  return pieces;
};

const cutLabel = (label: string): string => (label.length > maxLabel ? `${label.slice(0, maxLabel - 1)}…`.toWellFormed() : label);

const rowsOf = (choices: NonNullable<OutboundMessage['choices']>): NonNullable<OutboundMessage['choices']> => {
  if (choices.length <= maxRows && choices.every((row) => row.length <= maxInRow)) return choices;
  const all = choices.flat();
  return Array.from({ length: Math.ceil(all.length / maxInRow) }, (_, i) => all.slice(i * maxInRow, (i + 1) * maxInRow));
};

const buttons = (choices: NonNullable<OutboundMessage['choices']>): readonly Block[] =>
  rowsOf(choices).map((row, i) => ({
    type: 'actions',
    elements: row.map(({ label, data }, j) => ({ type: 'button', action_id: `${actionPrefix}${i}:${j}`, text: { type: 'plain_text', text: cutLabel(label), emoji: true }, value: data })),
  }));

export interface Written {
  readonly text: string;
  /** Slack reads no markup in it. */
  readonly mrkdwn?: false;
}

/** The text as Slack wants it. */
export const written = (message: Pick<OutboundMessage, 'text' | 'plain'>): Written =>
  message.plain === true ? { text: escapeSlack(message.text.toWellFormed()), mrkdwn: false } : { text: formatMrkdwn(message.text) };

const sections = (message: Pick<OutboundMessage, 'text' | 'plain'>): readonly Block[] => {
  if (message.plain === true) return intoSections(message.text.toWellFormed()).map((text) => ({ type: 'section', text: { type: 'plain_text', text, emoji: false } }));
  return intoSections(formatMrkdwn(message.text)).map((text) => ({ type: 'section', expand: true, text: { type: 'mrkdwn', text } }));
};

/** Blocks for a message that has buttons, or that is `exact`: without markup also where the method cannot switch it off. Empty takes away those that a message had. */
export const blocksOf = (message: Pick<OutboundMessage, 'text' | 'plain' | 'choices'>, exact = false): readonly Block[] => {
  const choices = message.choices ?? [];
  if (choices.length === 0 && !(exact && message.plain === true)) return [];
  return [...sections(message), ...buttons(choices)];
};
