import { globSync } from 'node:fs';
import { join } from 'node:path';
import { refreshFile, root } from './generated-docs.ts';

for (const page of globSync(['README.md', 'docs/**/*.md'], { cwd: root })) refreshFile(join(root, page));
