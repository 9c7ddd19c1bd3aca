import type { Tool } from '../contract.ts';
import type { FileToolsDeps } from './file-access.ts';
import { patch } from './patch.ts';
import { readFile } from './read-file.ts';
import { searchFiles } from './search-files.ts';
import { writeFile } from './write-file.ts';

/** The tools that work on files, for one agent. */
export const fileTools = (deps: FileToolsDeps): readonly Tool[] => [readFile(deps), writeFile(deps), patch(deps), searchFiles(deps)];
