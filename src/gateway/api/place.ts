import type { TurnInput } from '../../agent/contract.ts';
import type { Chat, Sender, Target } from '../../core/message.ts';

/** The API among the accounts. It has no connection: nothing can be said there but in answer to a call. */
export const apiAccount = 'api_server';

/** The key of the configuration among those who call. */
export const ownerCaller = 'owner';

/** From where a call comes, in the words of every other platform. What a client says about it decides who answers, and nothing else. */
export interface ApiPlace {
  readonly chat: Chat;
  readonly sender: Sender;
}

/** Whoever calls with one key cannot pass for the person of another, whatever name is given. */
const senderOf = (callerId: string, { sender }: ApiPlace): Sender => (sender.id === callerId ? sender : { ...sender, id: `${callerId}:${sender.id}` });

export const apiTarget = ({ chat }: ApiPlace): Target => ({ account: apiAccount, chatId: chat.id, chatType: chat.type, ...(chat.threadId !== undefined && { threadId: chat.threadId }) });

type Binding = Pick<TurnInput, 'asyncDelivery' | 'ask' | 'steering' | 'place'>;

/** The only way to bind a turn of this surface: when the call has been answered nobody listens any more, and nobody can be asked meanwhile. */
export const bindApiTurn = (agent: string, callerId: string, place: ApiPlace): Binding => ({
  asyncDelivery: false,
  ask: async () => ({ type: 'unattended' }),
  steering: () => [],
  place: { agent, platform: apiAccount, target: apiTarget(place), sender: senderOf(callerId, place) },
});

/** What the model is told about writing here. */
export const apiPlatform = {
  name: apiAccount,
  label: 'API',
  hints: 'Your words go to a program that asked over HTTP and reads them as they are. Nothing can be sent after the answer: whatever takes long has to be finished, or looked after, before you end.',
};
