/** What the system says when a read or a write fails does not say of which file; whoever reports it has to. */
export const nameFile = (error: unknown, path: string): unknown => {
  if (error instanceof Error && 'syscall' in error && !('path' in error)) Object.assign(error, { path });
  return error;
};
