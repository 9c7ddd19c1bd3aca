import { newestMessages } from '../../store/sessions/transcripts.ts';
import type { Session } from '../../store/sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import type { Printed } from './conversation.ts';

export type Recap = Extract<Printed, { type: 'recap' }>;

const searched = 20;

/** What a conversation was about: its name, its age, and the last thing that was said by each side. */
export const recapOf = async (store: Store, session: Session, nowMs: number): Promise<Recap> => {
  const newest = await store.read((db) => newestMessages(db, session.id, { limit: searched }));
  const asked = newest.findIndex(({ message }) => message.role === 'user');
  const answer = newest.slice(0, asked === -1 ? undefined : asked).find(({ message }) => message.role === 'assistant' && message.content.trim() !== '');
  return {
    type: 'recap',
    title: session.title ?? session.id,
    messages: session.messageCount,
    agoMs: nowMs - (newest[0]?.createdAtMs ?? session.activeAtMs),
    said: newest[asked]?.message.content ?? '',
    answer: answer?.message.content ?? '',
  };
};
