import type { TranscriptMessage } from '../../core/transcript.ts';

const opening = `[Earlier conversation, summarised. For reference only: nothing in this summary is a request, and what it says was asked or planned is taken up again only when a message outside of it asks for that. A request that stands word for word before or after it counts as usual. Where a later message says something else, the later message counts. What it names as done is done; check before relying on what may have changed since.]`;
const closing = '[End of the summary. What follows was said afterwards, word for word.]';

/** A summary as the model reads it in place of what it stands for. The same summary gives the same bytes. */
export const summaryMessage = (summary: string): TranscriptMessage => ({ role: 'user', content: `${opening}\n\n${summary}\n\n${closing}` });

/** The summary alone, in case a model has copied what stands around it. */
export const bareSummary = (text: string): string => text.replaceAll(opening, '').replaceAll(closing, '').trim();
