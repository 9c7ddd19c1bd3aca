import { z } from 'zod';
import { ToolError } from '../contract.ts';
import type { Tool } from '../contract.ts';
import { defineTool } from '../define-tool.ts';
import { applyChanges } from './apply-changes.ts';
import { newFileAccess } from './file-access.ts';
import type { FileToolsDeps } from './file-access.ts';
import { loadBefore, maxEditedBytes } from './load-before.ts';
import { looksNumbered, numberedRefusal } from './numbered-text.ts';

const args = z.object({
  path: z.string().describe('The file; relative to the working folder, absolute, or beginning with ~/. Missing folders are made.'),
  content: z.string().describe('The whole new text of the file.'),
});

const checkContent = (content: string, path: string): void => {
  if (!content.isWellFormed()) throw new ToolError('bad_arguments', 'The content has halves of characters in it. Send it again.');
  if (Buffer.byteLength(content) > maxEditedBytes) throw new ToolError('bad_arguments', `The content has more than ${maxEditedBytes / 1024 / 1024} MB; that is too much for one call.`);
  if (looksNumbered(content, path)) throw new ToolError('bad_arguments', numberedRefusal('The content'));
};

const lineCount = (text: string): number => (text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0));

export const writeFile = (deps: FileToolsDeps): Tool =>
  defineTool({
    name: 'write_file',
    description: 'Writes a whole text file, making it or replacing everything in it. To change a part of a file use patch. Use it instead of echo or a here-document.',
    args,
    async run({ path, content }, context, signal) {
      checkContent(content, path);
      const access = await newFileAccess(deps, context);
      const { real } = await access.locate(path, 'write');
      return deps.state.locks.run([real], signal, async () => {
        const place = await access.locate(path, 'write');
        if (place.real !== real) throw new ToolError('failed', `${place.shown} was replaced by a link at this moment. Nothing was written; try again.`);
        const known = deps.state.seen.get(context.sessionId, real);
        if (place.exists && known?.redacted === true) throw new ToolError('failed', `Secrets in ${place.shown} were hidden when you read it, so it cannot be written whole. Change the part you mean with patch.`);
        const loaded = place.exists ? await loadBefore(access, place) : undefined;
        const after = { bytes: Buffer.from(content, 'utf8'), text: content };
        const notes = await applyChanges([{ place: loaded?.place ?? place, before: loaded?.before, after }], { tool: 'write_file', deps, access, context, signal });
        const size = `${lineCount(content)} lines, ${after.bytes.length} bytes`;
        const unread = loaded !== undefined && known === undefined ? [`Note: the file existed and you had not read it; its ${loaded.before.stats.size} bytes were replaced.`] : [];
        return [`${loaded === undefined ? 'Wrote' : 'Replaced'} ${place.shown} (${size}).`, ...unread, ...notes].join('\n');
      });
    },
  });
