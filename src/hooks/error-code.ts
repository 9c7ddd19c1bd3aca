/** The system's word for what went wrong, such as `ENOENT`. */
export const errorCode = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown');
