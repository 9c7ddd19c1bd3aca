import assert from 'node:assert/strict';
import { sampleEvent } from '../../test/support/samples.ts';
import { gatewayConfig, requireConfig } from '../cli/configuration/settings.ts';
import type { Hooks } from '../hooks/hooks.ts';
import { newChains } from '../lib/chains.ts';
import type { Clock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { accountOptions } from '../platforms/account-options.ts';
import { platforms } from '../platforms/registry.ts';
import type { Store } from '../store/store.ts';
import type { InboxDeps } from './arrival.ts';
import { newContinuations } from './continuations.ts';

export interface InboxOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly home: string;
  readonly hooks: Hooks;
  /** Of every account; Telegram otherwise. */
  readonly platform?: string;
  readonly allowedUsers?: readonly string[];
}

/** The way in of a gateway with default settings, in which every account is of one platform. */
export const newInbox = async ({ store, clock, hooks, ...options }: InboxOptions): Promise<InboxDeps> => {
  const { settings } = gatewayConfig(await requireConfig({ env: { HERMES_HOME: options.home }, version: 'test', write: () => undefined, writeError: () => undefined }));
  const platform = platforms.find(({ name }) => name === (options.platform ?? 'telegram')) ?? assert.fail('no platform');
  const common = accountOptions.parse({ allowed_users: options.allowedUsers ?? [sampleEvent().sender.id] });
  const account = () => ({ platform, common });
  const targets = { platforms: () => platforms, accounts: () => [], account, aliases: () => ({}) };
  return { store, clock, log: silentLogger, hooks, targets, continuations: newContinuations(), order: newChains(), settings: () => settings, account, onControl: () => Promise.resolve() };
};
