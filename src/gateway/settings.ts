import { allowlistSection, approvalsSection } from '../agent/approvals/options.ts';
import { memorySection } from '../agent/memory/options.ts';
import { privacySection } from '../agent/privacy.ts';
import { auxiliarySection, fallbackSection, modelSection } from '../agent/models/options.ts';
import { clarifySection } from '../agent/tools/clarify.ts';
import { filesSection } from '../agent/tools/files/options.ts';
import { delegationSection } from '../agent/tools/delegation/options.ts';
import { mcpSection } from '../agent/tools/mcp/options.ts';
import { skillsSection } from '../agent/tools/skills/options.ts';
import { terminalSection } from '../agent/tools/terminal/options.ts';
import { toolsSection } from '../agent/tools/toolsets.ts';
import { webSection } from '../agent/tools/web/options.ts';
import { botLoopGuardSection } from '../access/bot-loop-guard.ts';
import { accessSection } from '../access/options.ts';
import type { AccountConfig } from '../config/read-accounts.ts';
import { defineSection } from '../config/section.ts';
import type { SectionValues } from '../config/section.ts';
import { quickCommandsSection } from '../commands/settings.ts';
import { webhooksOutSection } from '../hooks/options.ts';
import { cronSection } from '../cron/options.ts';
import { routingSections } from '../routing/options.ts';
import { channelsSection } from '../delivery/channel-options.ts';
import { displaySection } from '../delivery/display.ts';
import { compressionSection } from '../sessions/compression/options.ts';
import { sttSection, ttsSection, voiceSection } from '../sessions/media/options.ts';
import { agentSection, sessionSections } from '../sessions/options.ts';
import { telemetrySection } from './traces.ts';
import { z } from 'zod';

export const storeSection = defineSection(
  'store',
  z
    .object({
      database_url: z.string().meta({ env: 'DATABASE_URL', secret: true }).describe('`postgres://…` to share one database between several gateways; without it a file in the home folder is used').optional(),
      copy_before_upgrade: z.boolean().describe('Copy the database into `backups` before a new version changes its tables; without a copy there is no upgrade. Off only if you have a backup of your own, such as of a large PostgreSQL database').default(true),
      inbox_days: z.number().min(1).describe('Days that answered messages stay traceable').default(14),
      outbox_days: z.number().min(1).describe('Days that deliveries stay traceable').default(14),
      session_days: z.number().min(1).describe('Days after which a conversation in which nobody has spoken is removed, with its files; without it conversations are kept').optional(),
      delivery_hours: z.number().min(1).describe('Hours after which an answer that could not be delivered is given up').default(24),
      media_days: z.number().min(1).describe('Days that files people sent are kept').default(90),
      media_max_total_mb: z.number().min(1).describe('Size of all files people sent; the oldest are removed first').default(2000),
      media_max_mb: z.number().min(1).describe('Largest file that is fetched from a platform').default(50),
    })
    .prefault({}),
  'restart',
);

/** Every part of the configuration that the gateway itself reads. */
export const gatewaySections = [
  modelSection,
  fallbackSection,
  auxiliarySection,
  agentSection,
  toolsSection,
  terminalSection,
  filesSection,
  approvalsSection,
  allowlistSection,
  webSection,
  mcpSection,
  skillsSection,
  clarifySection,
  delegationSection,
  memorySection,
  privacySection,
  compressionSection,
  ...routingSections,
  accessSection,
  botLoopGuardSection,
  quickCommandsSection,
  webhooksOutSection,
  displaySection,
  channelsSection,
  cronSection,
  ...sessionSections,
  sttSection,
  ttsSection,
  voiceSection,
  storeSection,
  telemetrySection,
] as const;

export type GatewaySettings = SectionValues<typeof gatewaySections>;

/** What a gateway runs with. `settings` is read anew wherever it is used, so that a live change takes effect. */
export interface GatewayConfig {
  readonly settings: GatewaySettings;
  readonly accounts: readonly AccountConfig[];
  /** Accounts that cannot run for what was written about them. */
  readonly disabled: readonly { readonly account: string; readonly reason: string; /** The gateway is ready without it. */ readonly isOptional?: true }[];
  /** Accounts that are configured and not this gateway's to run: what is known about them is left alone. */
  readonly elsewhere?: readonly string[];
}
