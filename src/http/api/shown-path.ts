/** A path as people write it: `/v1/runs/{id}`. */
export const shownPath = (path: string): string => path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, '{$1}');
