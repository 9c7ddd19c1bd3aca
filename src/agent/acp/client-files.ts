import { isAbsolute } from 'node:path';
import type { ReadTextFileRequest, WriteTextFileRequest } from '@agentclientprotocol/sdk';
import { ToolError } from '../tools/contract.ts';
import { guardedFiles, guardVerdict, identityOf } from '../tools/files/guarded-files.ts';
import { openFile } from '../tools/files/open-file.ts';
import { decidePath } from '../tools/files/path-policy.ts';
import type { FileUse, PathPolicy } from '../tools/files/path-policy.ts';
import { stageFile } from '../tools/files/replace-file.ts';
import { findRealPath } from '../tools/files/resolve-path.ts';
import type { FoundPath } from '../tools/files/resolve-path.ts';

export interface ClientFilesDeps {
  readonly home: string;
  readonly userHome: string;
}

/** What an agent may ask us to do with files in the folder that it works in: nothing outside it is touched. A refusal is a `ToolError`. */
export interface ClientFiles {
  read(request: Pick<ReadTextFileRequest, 'path' | 'line' | 'limit'>, folder: string): Promise<string>;
  write(request: Pick<WriteTextFileRequest, 'path' | 'content'>, folder: string): Promise<void>;
}

const maxReadBytes = 4 * 1024 * 1024;

const policyOf = async (deps: ClientFilesDeps, at: string): Promise<PathPolicy> => {
  const [folder, home, userHome] = await Promise.all([at, deps.home, deps.userHome].map(async (path) => (await findRealPath(path)).real));
  if (folder === undefined || home === undefined || userHome === undefined) throw new ToolError('unavailable', 'The folders cannot be found.');
  return { home, agentHome: home, userHome, writable: [folder], readable: [] };
};

/** What needs a person's word elsewhere is refused here: the agent asks for its own tools, not for ours. */
const allowed = async (path: string, use: FileUse, policy: PathPolicy): Promise<FoundPath> => {
  if (!isAbsolute(path)) throw new ToolError('bad_arguments', 'The path has to be absolute.');
  const found = await findRealPath(path);
  const verdict = decidePath(found, use, policy);
  if (verdict.type !== 'allowed') throw new ToolError('unavailable', `${path} ${verdict.reason}.`);
  return found;
};

const linesOf = (text: string, line: number, limit: number | undefined): string => {
  if (line <= 1 && limit === undefined) return text;
  const from = Math.max(0, line - 1);
  return text.split('\n').slice(from, limit === undefined ? undefined : from + limit).join('\n');
};

export const newClientFiles = (deps: ClientFilesDeps): ClientFiles => {
  /** Opens what exists, whatever other name it has. */
  const openAt = async (found: FoundPath, use: FileUse, policy: PathPolicy) => {
    const opened = await openFile(found.real, found.lexical);
    const verdict = guardVerdict(identityOf(opened.stats), use, { policy, guarded: await guardedFiles(policy) });
    if (verdict === undefined || verdict.type === 'allowed') return opened;
    await opened.handle.close();
    throw new ToolError('unavailable', `${found.lexical} ${verdict.reason}.`);
  };
  return {
    async read({ path, line, limit }, folder) {
      const policy = await policyOf(deps, folder);
      const { handle, stats } = await openAt(await allowed(path, 'read', policy), 'read', policy);
      await using _closed = handle;
      if (stats.size > BigInt(maxReadBytes)) throw new ToolError('failed', `${path} is larger than ${maxReadBytes} bytes.`);
      return linesOf(await handle.readFile('utf8'), line ?? 1, limit ?? undefined);
    },
    async write({ path, content }, folder) {
      const policy = await policyOf(deps, folder);
      const found = await allowed(path, 'write', policy);
      const before = found.exists ? await openAt(found, 'write', policy) : undefined;
      await before?.handle.close();
      await (await stageFile(found.real, Buffer.from(content.toWellFormed()), before?.stats)).commit();
    },
  };
};
