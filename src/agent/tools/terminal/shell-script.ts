import { randomBytes } from 'node:crypto';

/** Runs a command as it stands, both outputs in one, and says at the end in which folder it has come to stand. */
const script = `__hermes_command=$1 __hermes_mark=$2; shift 2; trap 'printf "\\n%s%s\\n" "$__hermes_mark" "$PWD"' EXIT; exec 2>&1; eval "$__hermes_command"`;

export interface ShellScript {
  readonly program: readonly [string, ...string[]];
  /** Takes the last line off the output. */
  read(output: string): { readonly output: string; readonly folder: string | undefined };
}

/** A command for a shell, of which one wants to know where it leaves the shell. */
export const shellScript = (shell: string, command: string): ShellScript => {
  const mark = `hermes-folder-${randomBytes(12).toString('hex')}:`;
  return {
    program: [shell, '-c', script, 'hermes', command, mark],
    read(output) {
      const at = output.lastIndexOf(`\n${mark}`);
      if (at === -1) return { output, folder: undefined };
      const end = output.indexOf('\n', at + 1);
      const folder = output.slice(at + 1 + mark.length, end === -1 ? undefined : end);
      return { output: output.slice(0, at) + (end === -1 ? '' : output.slice(end + 1)), folder: folder === '' ? undefined : folder };
    },
  };
};
