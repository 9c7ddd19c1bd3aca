/** In which folder the commands of a conversation stand. Kept in memory: after a restart they begin where they began. */
export interface SessionFolders {
  of(sessionId: string): string | undefined;
  change(sessionId: string, folder: string): void;
}

const remembered = 1000;

export const newSessionFolders = (): SessionFolders => {
  const folders = new Map<string, string>();
  return {
    of: (sessionId) => folders.get(sessionId),
    change(sessionId, folder) {
      folders.delete(sessionId);
      folders.set(sessionId, folder);
      const oldest = folders.size > remembered ? folders.keys().next().value : undefined;
      if (oldest !== undefined) folders.delete(oldest);
    },
  };
};
