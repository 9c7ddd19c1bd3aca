import { z } from 'zod';
import { defineSection } from '../../../config/section.ts';

/** Longest time that a command may keep a turn waiting, in seconds. */
export const maxForegroundSeconds = 600;

const folder = z.string().trim().regex(/^(?:~(?:\/|$)|\/)[^\n\r\0]*$/, 'must be an absolute path');

/** Where and how commands run. */
export const terminalSection = defineSection(
  'terminal',
  z
    .object({
      backend: z
        .enum(['local', 'bubblewrap', 'docker'])
        .meta({ env: 'TERMINAL_ENV' })
        .describe('Where commands run: as the gateway (`local`), in a sandbox of this machine (`bubblewrap`), or each in a fresh container (`docker`). In a sandbox only its own folder and `container_folders` can be reached')
        .default('local'),
      cwd: folder.meta({ env: 'TERMINAL_CWD' }).describe('Folder where commands start; the workspace of the agent when left out').optional(),
      timeout: z.int().min(1).max(maxForegroundSeconds).meta({ env: 'TERMINAL_TIMEOUT' }).describe('Seconds that a command may take when the agent names no time').default(180),
      env_passthrough: z.array(z.string().trim().regex(/^[A-Za-z_]\w*$/, 'must be the name of a variable')).describe('Variables of the gateway that commands get too; never its own secrets').default([]),
      docker_image: z.string().trim().min(1).regex(/^[^\s-]\S*$/, 'must be the name of an image').meta({ env: 'TERMINAL_DOCKER_IMAGE' }).describe('Image for `docker`; it needs a shell').default('debian:stable-slim'),
      container_folders: z.array(folder).describe('Further folders that a sandbox may see, each as `/path` or `/path:ro`. With one that may be written, commands are approved as without a sandbox').default([]),
      container_network: z.boolean().describe('Whether a sandbox may use the network').default(true),
      container_cpu: z.number().min(0.1).max(256).describe('Processors that a container may use').default(1),
      container_memory: z.int().min(64).describe('Memory that a container may use, in MB').default(5120),
      container_pids: z.int().min(16).max(100_000).describe('Processes that a container may have').default(256),
    })
    .prefault({}),
  'restart',
);

export type TerminalSettings = z.output<(typeof terminalSection)['schema']>;
