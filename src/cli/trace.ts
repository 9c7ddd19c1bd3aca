import { Command } from 'commander';
import type { Terminal } from './environment.ts';

export const traceCommand = (_terminal: Terminal): Command => new Command('trace');
