import { chatsLike } from '../../core/target.ts';
import { systemClock } from '../../lib/clock.ts';
import { serverOf } from '../../lib/server-of.ts';
import type { Platform } from '../contract.ts';
import { newDeviceChecks } from './device-checks.ts';
import { measureMatrix } from './format.ts';
import { matrixOptions } from './options.ts';
import type { MatrixOptions } from './options.ts';

export const matrix: Platform<MatrixOptions> = {
  name: 'matrix',
  label: 'Matrix',
  options: matrixOptions,
  // Words and HTML together; an event may have 64 KB, and encryption makes it a third larger.
  limits: { text: 32_000, measure: measureMatrix, editIntervalMs: 3000 },
  readChat: chatsLike(/^![^\s$]+$/),
  display: { tier: 'medium' },
  hints:
    'You are writing in Matrix. Markdown is shown as HTML: bold, italic, strikethrough, spoilers, links, headings, lists, tables, quotes, inline code and code blocks with their language. ' +
    'Name people by their full id, such as @name:server, and they are notified.',
  // An empty sync is answered within 30 seconds, 120 at most.
  silenceMs: 150_000,
  asyncDelivery: true,
  authenticatesSenders: false,
  // Clients keep `/` to themselves.
  commandMark: '!',
  alwaysOn: false,
  deviceChecks: (data) => newDeviceChecks(data, () => systemClock.now()),
  credential: ({ access_token: token, user_id: user, homeserver }) => token ?? (user === undefined ? undefined : `${serverOf(homeserver)} ${user}`),
  async open(context) {
    // What an account that is not configured would not need is loaded here.
    const { open } = await import('./adapter.ts');
    return open(context);
  },
  simulate: async (variant) => (await import('./simulator.ts')).startMatrixSimulator({ encrypted: variant === 'encrypted' }),
  variants: ['encrypted'],
  exceptions: {},
};
