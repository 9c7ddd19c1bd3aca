import { enqueueSettled } from '../delivery/question-message.ts';
import { closeQuestion, openTurnQuestions } from '../store/agents/questions.ts';
import type { Writing } from '../store/store.ts';

/** A turn that is over waits for nobody: what it has asked is taken back. */
export const withdrawQuestions = async (tx: Writing, turnId: number): Promise<void> => {
  for (const question of await openTurnQuestions(tx, turnId)) {
    if (await closeQuestion(tx, question.id, 'withdrawn')) await enqueueSettled(tx, question, '— no longer needed');
  }
};
