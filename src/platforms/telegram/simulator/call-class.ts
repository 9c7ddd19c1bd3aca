import type { CallClass } from '../../simulator-faults.ts';

/** Which class of calls a method belongs to. */
export const classOf = (method: string): CallClass | undefined => {
  if (method === 'getUpdates') return 'receive';
  if (method === 'getMe') return 'identify';
  if (method === 'getFile') return 'download';
  if (method === 'sendChatAction') return 'typing';
  if (method.startsWith('send')) return 'send';
  return method.startsWith('edit') || method === 'deleteMessage' ? 'edit' : undefined;
};
