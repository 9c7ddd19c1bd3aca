import { codeRules, doubtRules } from './code-rules.ts';
import { fileRules } from './file-rules.ts';
import { floorRules } from './floor-rules.ts';
import { stopsGateway } from './gateway-rules.ts';
import { reachesOthers, walksOverOthers } from './other-agents.ts';
import { ruleApplies } from './rule.ts';
import type { CommandFacts, Reach, Rule } from './rule.ts';
import { runsFetched } from './runs-fetched.ts';
import type { Dialect, ShellCall } from './shell/call.ts';
import { readScript } from './shell/read-script.ts';
import type { ScriptReading } from './shell/read-script.ts';
import { systemRules } from './system-rules.ts';
import { hasHiddenCharacters } from './visible-text.ts';
import { workRules } from './work-rules.ts';

/** One thing about a command that a person should decide. */
export interface Finding {
  readonly pattern: string;
  readonly reason: string;
  readonly widest: Reach;
  /** Done for the owner of the gateway and for nobody else. */
  readonly ownerOnly?: true;
}

export type CommandJudgement =
  | { readonly type: 'harmless'; readonly reading: ScriptReading }
  | { readonly type: 'ask'; readonly reading: ScriptReading; /** Each class once, never empty. */ readonly findings: readonly [Finding, ...Finding[]] }
  /** Nobody can allow it. */
  | { readonly type: 'refused'; readonly reading: ScriptReading; readonly reason: string };

const dangerRules: readonly Rule[] = [...fileRules, ...systemRules, ...workRules, ...codeRules];

const containers: readonly string[] = ['docker', 'podman', 'nerdctl', 'kubectl', 'oc'];

/** What runs in a container cannot take the machine with it. */
const isInContainer = (call: ShellCall): boolean => call.wrappers.some((wrapper) => containers.includes(wrapper));

const floorReason = (command: string, reading: ScriptReading, facts: CommandFacts): string | undefined => {
  if (reading.forkBomb) return 'starts copies of itself until the machine stands still';
  if (stopsGateway(reading.calls, facts)) return 'stops or restarts the gateway that you run in. Its owner can do that from outside; `hermes gateway restart` does it when this turn has ended';
  if (reachesOthers(command, reading.calls, facts)) return 'reaches for what belongs to another agent of this gateway';
  for (const call of reading.calls) {
    if (isInContainer(call)) continue;
    const rule = floorRules.find((each) => ruleApplies(each, call, facts));
    if (rule !== undefined) return rule.reason;
  }
  return undefined;
};

const findingsOf = (command: string, reading: ScriptReading, facts: CommandFacts): readonly Finding[] => {
  const byPattern = new Map<string, Finding>();
  const add = (finding: Finding): void => void (byPattern.has(finding.pattern) || byPattern.set(finding.pattern, finding));
  for (const doubt of reading.doubts) add(doubtRules[doubt]);
  if (runsFetched(reading.calls, facts)) add(doubtRules['network-code']);
  if (walksOverOthers(reading.calls, facts)) add({ pattern: 'search where other agents live', reason: 'goes through a folder in which files of other agents lie', widest: 'once' });
  if (hasHiddenCharacters(command)) add({ pattern: 'hidden characters', reason: 'has characters that cannot be seen or look like others', widest: 'once' });
  for (const call of reading.calls) {
    const rules = isInContainer(call) ? [...floorRules, ...dangerRules] : dangerRules;
    for (const { pattern, reason, ownerOnly } of rules.filter((rule) => ruleApplies(rule, call, facts))) add({ pattern, reason, widest: 'always', ...(ownerOnly === true && { ownerOnly }) });
  }
  return [...byPattern.values()];
};

/** Reads a command as its shell will, and says what it may do to the machine. Runs nothing and looks at no file. */
export const judgeCommand = (command: string, facts: CommandFacts, dialect: Dialect = 'bash'): CommandJudgement => {
  const reading = readScript(command, facts, dialect);
  const refusal = floorReason(command, reading, facts);
  if (refusal !== undefined) return { type: 'refused', reading, reason: refusal };
  const [first, ...more] = findingsOf(command, reading, facts);
  return first === undefined ? { type: 'harmless', reading } : { type: 'ask', reading, findings: [first, ...more] };
};
