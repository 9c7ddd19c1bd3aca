import { enqueueSettled } from '../../delivery/question-message.ts';
import { closeQuestion, openQuestions } from '../../store/agents/questions.ts';
import type { Store } from '../../store/store.ts';
import type { Window } from './situation.ts';

/** Says for a window at which nobody is left that the questions of its turn get no answer: the turn goes on without. Answers what was asked. */
export const leaveUnanswered = async (store: Store, { account, chat }: Window): Promise<readonly string[]> => {
  const asked = (await store.read((db) => openQuestions(db, { account, chatId: chat }))).filter(({ turnId }) => turnId !== null);
  if (asked.length === 0) return [];
  return store.write(async (tx) => {
    const left: string[] = [];
    for (const question of asked) {
      if (!(await closeQuestion(tx, question.id, 'expired'))) continue;
      await enqueueSettled(tx, question, '⌛ Nobody was there to answer.');
      tx.notify('question', question.key);
      left.push(question.question.text);
    }
    return left;
  });
};
