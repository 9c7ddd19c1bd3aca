/**
 * What a platform outside this tree may build on: `import { … } from 'hermes-gateway/platform'`. The zod and the error class of the gateway itself, so
 * that both sides mean the same things.
 */
export { z } from 'zod';
export { PlatformError } from '../core/errors.ts';
export type { PlatformErrorCode } from '../core/errors.ts';
export type { Chat, ChatType, InboundEvent, MediaRef, OutboundMessage, Sender, SendReceipt, Target } from '../core/message.ts';
export { chatsLike } from '../core/target.ts';
export { systemClock } from '../lib/clock.ts';
export type { Clock } from '../lib/clock.ts';
export type { Logger } from '../lib/logger.ts';
export { parseMarkdown } from '../lib/markdown/parse.ts';
export { printMarkdown } from '../lib/markdown/print.ts';
export type { MarkdownStyle } from '../lib/markdown/print.ts';
export type { Adapter, AdapterContext, Identity, Inbox, Platform } from './contract.ts';
export type { Fault, FaultPlan, PlatformSimulator, SimulatedMessage, SimulatedPlace, VisibleMessage } from './simulator.ts';
