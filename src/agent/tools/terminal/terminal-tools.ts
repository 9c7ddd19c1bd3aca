import type { Tool } from '../contract.ts';
import { processTool } from './process.ts';
import { terminalTool } from './terminal.ts';
import type { TerminalDeps } from './terminal.ts';

/** The tools that run and look after commands. */
export const terminalTools = (deps: TerminalDeps): readonly Tool[] => [terminalTool(deps), processTool(deps)];
