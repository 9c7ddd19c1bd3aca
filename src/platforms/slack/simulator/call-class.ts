import type { CallClass } from '../../simulator-faults.ts';

const classes: Readonly<Record<string, CallClass>> = {
  'apps.connections.open': 'receive',
  'auth.test': 'identify',
  'chat.postMessage': 'send',
  'chat.postEphemeral': 'send',
  'files.completeUploadExternal': 'send',
  'chat.update': 'edit',
  'chat.delete': 'edit',
  'assistant.threads.setStatus': 'typing',
};

/** Which class of calls a method belongs to. */
export const classOf = (method: string): CallClass | undefined => classes[method];
