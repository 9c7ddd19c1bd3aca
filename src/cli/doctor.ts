import { Command } from 'commander';
import { readSeconds } from './arguments/read-seconds.ts';
import type { Examined } from './doctor/examine-all.ts';
import { counted } from './doctor/finding.ts';
import type { Finding, FindingLevel } from './doctor/finding.ts';
import { Exit, json, paint } from './environment.ts';
import type { Terminal } from './environment.ts';
import { noteAct } from './note-act.ts';

interface Flags {
  readonly json?: true;
  readonly offline?: true;
  readonly fix?: true;
  readonly security?: true;
  readonly timeout: number;
}

/** Carries out what a finding can mend by itself. */
const mend = async (home: string, finding: Finding): Promise<Finding> => {
  if (finding.repair === undefined || finding.level === 'ok') return finding;
  await finding.repair();
  noteAct(home, 'doctor fix', finding.text);
  return { level: 'ok', text: `${finding.text}; mended` };
};

const signs: Readonly<Record<FindingLevel, { readonly sign: string; readonly color: Parameters<typeof paint>[1] }>> = {
  ok: { sign: '✓', color: 'green' },
  warning: { sign: '!', color: 'yellow' },
  error: { sign: '✗', color: 'red' },
  skipped: { sign: '-', color: 'dim' },
};

const lines = (terminal: Terminal, { area, findings }: Examined): readonly string[] =>
  findings.flatMap(({ level, text, fix, repair }, index) => {
    const { sign, color } = signs[level];
    const title = (index === 0 ? area : '').padEnd(14);
    const advice = fix === undefined ? [] : [`${' '.repeat(16)}${paint(terminal, 'dim', `→ ${fix}${repair === undefined ? '' : ' (hermes doctor --fix does it)'}`)}`];
    return [`${paint(terminal, 'bold', title)}${paint(terminal, color, sign)} ${text}`, ...advice];
  });

const report = (terminal: Terminal, examined: readonly Examined[], flags: Flags): void => {
  const all = examined.flatMap(({ findings }) => findings);
  const count = (level: FindingLevel): number => all.filter((finding) => finding.level === level).length;
  const [errors, warnings] = [count('error'), count('warning')];
  if (flags.json === true) {
    const findings = examined.flatMap(({ area, findings: found }) => found.map(({ level, text, fix }) => ({ area: area.toLowerCase(), level, text, fix: fix ?? null })));
    terminal.write(json({ ok: errors === 0, errors, warnings, findings }));
  } else {
    terminal.write(`${examined.flatMap((one) => lines(terminal, one)).join('\n')}\n\n`);
    terminal.write(errors + warnings === 0 ? 'Everything is fine.\n' : `${counted(errors, 'error', 'errors')}, ${counted(warnings, 'warning', 'warnings')}.\n`);
  }
  if (errors > 0) throw new Exit(1);
};

/** Looks the whole installation over. Leaves with 0 when nothing is broken, warnings or not, and with 1 otherwise. */
export const doctorCommand = (terminal: Terminal): Command =>
  new Command('doctor')
    .description('Check the whole installation and name the fix for what is wrong')
    .option('--offline', 'ask no model and no platform')
    .option('--security', 'only what others could do with this gateway')
    .option('--timeout <seconds>', 'how long a model or a platform may take to answer', readSeconds, 8)
    .option('--fix', 'mend what can be mended without risk: the modes of files that others can read')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes doctor\n  hermes doctor --offline --json\n  hermes doctor --timeout 60\n  hermes doctor --security\n  hermes doctor --fix\n\nThe exit code is 0 when nothing is broken and 1 otherwise. Without --fix nothing is changed.')
    .action(async (flags: Flags) => {
      const { examine } = await import('./doctor/examination.ts');
      const { examineAll } = await import('./doctor/examine-all.ts');
      await using examined = await examine(terminal, { offline: flags.offline === true, answerMs: flags.timeout * 1000 });
      const found = await examineAll(examined, new AbortController().signal, { security: flags.security === true });
      const mended = flags.fix === true ? await Promise.all(found.map(async ({ area, findings }) => ({ area, findings: await Promise.all(findings.map((finding) => mend(examined.home, finding))) }))) : found;
      const clean = mended.map(({ area, findings }) => ({ area, findings: findings.map((finding) => ({ ...finding, text: examined.redact(finding.text) })) }));
      report(terminal, clean, flags);
    });
