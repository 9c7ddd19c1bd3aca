import { enqueueText } from '../delivery/compose.ts';
import type { Platform } from '../platforms/contract.ts';
import { takeRestartMarks } from '../store/messages/restart-marks.ts';
import type { Writing } from '../store/store.ts';

/** Tells every chat that asked for a restart, once, that the gateway is back. */
export const reportRestarts = async (tx: Writing, at: { readonly version: string; platform(account: string): Platform | undefined }): Promise<void> => {
  for (const { inboxId, target } of await takeRestartMarks(tx)) {
    const platform = at.platform(target.account);
    if (platform !== undefined) await enqueueText(tx, platform, { key: `restarted:${inboxId}`, target, text: `✅ I am back, Hermes gateway ${at.version}.`, inboxId });
  }
};
