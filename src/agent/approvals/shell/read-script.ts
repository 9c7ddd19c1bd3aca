import { posix } from 'node:path';
import { forEachChild, parse } from 'unbash';
import type { Command, Function as FunctionNode, ParsedScript, Redirection as RedirectionNode, SyntaxNode, Word } from 'unbash';
import { plainField, unknown } from './call.ts';
import type { Dialect, Doubt, Field, Input, Redirection, ShellCall, ShellFacts } from './call.ts';
import { expandWord } from './expand-word.ts';
import type { Guess, Surroundings } from './expand-word.ts';
import { resolvePath } from './resolve-path.ts';
import { innerOf, printedBy } from './unwrap.ts';

/** Everything that a script would run, and what cannot be told about it. */
export interface ScriptReading {
  readonly calls: readonly ShellCall[];
  readonly doubts: readonly Doubt[];
  /** It defines a function that starts itself again and again. */
  readonly forkBomb: boolean;
}

/** Of code inside code. */
const maxDepth = 20;
const maxCalls = 2000;
const maxBraces = 2000;
const maxValueChars = 4096;

interface Walk {
  readonly facts: ShellFacts;
  readonly calls: ShellCall[];
  readonly doubts: Set<Doubt>;
  forkBomb: boolean;
  bracesLeft: number;
}

/** What commands change for those behind them. */
interface ShellState {
  cwd: string | undefined;
  readonly variables: Map<string, readonly string[]>;
}

interface Scope {
  readonly state: ShellState;
  readonly input: Input;
  readonly background: boolean;
  readonly wrappers: readonly string[];
  readonly dialect: Dialect;
  readonly depth: number;
}

const inherited: Input = { type: 'inherited' };

/** For what runs in a shell of its own. */
const forked = (scope: Scope): Scope => ({ ...scope, state: { cwd: scope.state.cwd, variables: new Map(scope.state.variables) } });

const variable = (name: string, { state, facts }: { readonly state: ShellState; readonly facts: ShellFacts }): Guess => {
  const assigned = state.variables.get(name);
  if (assigned !== undefined) return { texts: assigned, certain: false };
  if (name === 'HOME') return { texts: [facts.home], certain: true };
  if (name === 'PWD' && state.cwd !== undefined) return { texts: [state.cwd], certain: true };
  if (name === 'IFS') return { texts: [' '], certain: false };
  if (name === 'PPID') return { texts: [String(facts.parentPid)], certain: false };
  return { texts: [unknown], certain: false };
};

const surroundings = (walk: Walk, scope: Scope, nesting = 0): Surroundings => ({
  variable: (name) => variable(name, { state: scope.state, facts: walk.facts }),
  mayExpand() {
    walk.bracesLeft -= 1;
    return walk.bracesLeft >= 0;
  },
  outputOf(script) {
    const [only, ...others] = script.commands;
    if (nesting > 3 || others.length > 0 || only?.command.type !== 'Command' || only.command.name === undefined) return undefined;
    const { name, args } = only.command;
    if (name.value === 'pwd') return scope.state.cwd;
    const around = surroundings(walk, scope, nesting + 1);
    const fields = args.flatMap((arg) => (arg.type === 'Word' ? (expandWord(arg, around)[0] ?? []) : []));
    return printedBy({ name: name.value, args: fields })?.text;
  },
});

const firstFields = (word: Word, walk: Walk, scope: Scope): readonly Field[] => expandWord(word, surroundings(walk, scope))[0] ?? [];

const oneField = (word: Word, walk: Walk, scope: Scope): Field => {
  const fields = firstFields(word, walk, scope);
  return { text: fields.map((field) => field.text).join(' '), computed: fields.some((field) => field.computed), glob: fields.some((field) => field.glob) };
};

const hasExpansion = (node: SyntaxNode): boolean => {
  let found = false;
  forEachChild(node, (child) => {
    found ||= child.type !== 'Literal';
  });
  return found;
};

const readRedirections = (nodes: readonly RedirectionNode[], walk: Walk, scope: Scope): { readonly redirections: readonly Redirection[]; readonly input: Input } => {
  const redirections: Redirection[] = [];
  let { input } = scope;
  for (const node of nodes) {
    if (node.type === 'HereDoc') input = { type: 'text', text: node.body.text, computed: hasExpansion(node.body) };
    else if (node.target === undefined) walk.doubts.add('syntax');
    else if (node.type === 'HereString') input = { type: 'text', ...oneField(node.target, walk, scope) };
    else {
      const path = oneField(node.target, walk, scope);
      const reads = node.operator === '<' || node.operator === '<&';
      if (/^\d+-?$|^-$/.test(path.text) && node.operator.includes('&')) continue;
      if (reads) input = { type: 'file' };
      redirections.push({ kind: reads ? 'read' : 'write', path });
      if (node.operator === '<>') redirections.push({ kind: 'read', path });
    }
  }
  return { redirections, input };
};

/** What `NAME=value` and `NAME=(a b)` set, as one field. */
const readAssignments = (nodes: Command['prefix'] | Command['suffix'], walk: Walk, scope: Scope): readonly (readonly [string, Field])[] =>
  nodes.flatMap((node) => {
    if (node.type !== 'Assignment') return [];
    const value = node.value.type === 'Word' ? oneField(node.value, walk, scope) : { text: node.value.elements.map((each) => oneField(each, walk, scope).text).join(' '), computed: false, glob: false };
    if (!value.computed && /\$\(|`/.test(value.text)) walk.doubts.add('stored-code');
    return [[node.name, value] as const];
  });

const remember = (state: ShellState, name: string, field: Field): void => {
  const before = state.variables.get(name) ?? [];
  const text = field.text.length > maxValueChars ? unknown : field.text;
  state.variables.set(name, [text, ...before].slice(0, 4));
};

/** `$1`, `$2`, … and all of them together. */
const setPositions = (state: ShellState, fields: readonly Field[], first: 0 | 1): void => {
  if (fields.length === 0) return;
  for (const [at, field] of fields.entries()) remember(state, String(at + first), field);
  remember(state, '@', { text: fields.slice(1 - first).map((field) => field.text).join(' '), computed: true, glob: false });
};

/** What builtins change for the commands behind them. */
const applyBuiltin = (call: ShellCall, walk: Walk, scope: Scope): void => {
  if (call.name === 'cd' || call.name === 'pushd') {
    const target = call.args.find((field) => !/^-[LPe@]+$|^--$/.test(field.text)) ?? plainField('~');
    const lost = target.computed || target.glob || target.text === '-' || target.text.includes(unknown);
    scope.state.cwd = lost ? undefined : resolvePath(target.text, { ...walk.facts, cwd: scope.state.cwd });
  }
  if (call.name === 'popd') scope.state.cwd = undefined;
  if (/^(?:export|declare|typeset|local|readonly)$/.test(call.name)) {
    for (const { text, computed } of call.args) {
      const at = text.indexOf('=');
      if (at > 0) remember(scope.state, text.slice(0, at), { text: text.slice(at + 1), computed, glob: false });
    }
  }
  const dashes = call.args.findIndex((field) => field.text === '--');
  if (call.name !== 'set' || dashes === -1) return;
  setPositions(scope.state, call.args.slice(dashes + 1), 1);
};

const baseName = (text: string): string => posix.basename(text.replaceAll('\\', '/')).toLowerCase().replace(/\.exe$/, '');

type Parts = Pick<ShellCall, 'assignments' | 'redirections' | 'input'>;

const addCall = (fields: readonly Field[], parts: Parts, at: { readonly walk: Walk; readonly scope: Scope }): void => {
  const { walk, scope } = at;
  if (walk.calls.length >= maxCalls || scope.depth > maxDepth) {
    walk.doubts.add('too-large');
    return;
  }
  const [command = plainField(''), ...args] = fields;
  const { background, wrappers, state } = scope;
  const call: ShellCall = { name: baseName(command.text), command, args, ...parts, wrappers, background, cwd: state.cwd };
  walk.calls.push(call);
  if (command.computed || command.glob || command.text.includes(unknown)) walk.doubts.add('computed-command');
  applyBuiltin(call, walk, scope);
  const inside: Scope = { ...scope, input: parts.input, wrappers: [...wrappers, call.name], depth: scope.depth + 1 };
  for (const inner of innerOf(call)) {
    if (inner.type === 'doubt') walk.doubts.add(inner.doubt);
    else if (inner.type === 'argv') addCall(inner.fields, { assignments: [], redirections: [], input: parts.input }, { walk, scope: inside });
    else {
      if (inner.computed) walk.doubts.add('computed-code');
      const same = call.name === 'eval' ? inside : forked(inside);
      setPositions(same.state, inner.params ?? [], 0);
      walkSource(inner.text.replaceAll(unknown, ' '), walk, { ...same, dialect: inner.dialect });
    }
  }
};

const walkCommand = (node: Command, walk: Walk, scope: Scope): void => {
  forEachChild(node, (child) => walkNode(child, walk, scope));
  const assignments = readAssignments(node.prefix, walk, scope);
  const { redirections, input } = readRedirections(node.redirects, walk, scope);
  if (node.name === undefined) for (const [name, value] of assignments) remember(scope.state, name, value);
  const around = surroundings(walk, scope);
  const words = [...(node.name === undefined ? [] : [node.name]), ...node.args].map((word) => {
    if (word.type === 'Word') return expandWord(word, around);
    const [pair] = readAssignments([word], walk, scope);
    return pair === undefined ? [[plainField(word.text)]] : [[{ ...pair[1], text: `${pair[0]}=${pair[1].text}` }]];
  });
  const count = Math.max(1, ...words.map((alternatives) => alternatives.length));
  for (let i = 0; i < count; i += 1) {
    const fields = words.flatMap((alternatives) => alternatives[Math.min(i, alternatives.length - 1)] ?? []);
    addCall(fields, { assignments, redirections, input }, { walk, scope });
  }
};

/** Whether a function calls itself in a pipeline or in the background. */
const startsItself = (node: FunctionNode): boolean => {
  let found = false;
  const visit = (child: SyntaxNode, spawning: boolean): void => {
    if (child.type === 'Command' && spawning && child.name?.value === node.name.value) found = true;
    const spawns = spawning || (child.type === 'Pipeline' && child.commands.length > 1) || (child.type === 'Statement' && child.background === true);
    forEachChild(child, (grandchild) => visit(grandchild, spawns));
  };
  visit(node.body, false);
  return found;
};

const walkPipeline = (commands: readonly SyntaxNode[], walk: Walk, scope: Scope): void => {
  const start = walk.calls.length;
  for (const [index, command] of commands.entries()) {
    const input: Input = index === 0 ? scope.input : { type: 'pipe', from: walk.calls.slice(start) };
    walkNode(command, walk, commands.length === 1 ? scope : { ...forked(scope), input });
  }
};

const walkNode = (node: SyntaxNode, walk: Walk, scope: Scope): void => {
  const children = (inside: Scope): void => forEachChild(node, (child) => walkNode(child, walk, inside));
  switch (node.type) {
    case 'Script':
      if (node.errors !== undefined) walk.doubts.add('syntax');
      return children(scope);
    case 'Statement':
      return children(node.background === true ? { ...forked(scope), background: true } : scope);
    case 'Pipeline':
      return walkPipeline(node.commands, walk, scope);
    case 'Command':
      return walkCommand(node, walk, scope);
    case 'Redirected': {
      const parts = readRedirections(node.redirects, walk, scope);
      for (const redirect of node.redirects) forEachChild(redirect, (child) => walkNode(child, walk, scope));
      addCall([], { assignments: [], ...parts }, { walk, scope });
      return walkNode(node.command, walk, { ...scope, input: parts.input });
    }
    case 'For':
    case 'Select': {
      const values = (node.wordlist ?? []).flatMap((word) => firstFields(word, walk, scope).map((field) => field.text));
      if (values.length > 0) scope.state.variables.set(node.name.value, values.slice(0, 16));
      return children(scope);
    }
    case 'Function':
      walk.forkBomb ||= startsItself(node);
      return children(forked(scope));
    case 'Subshell':
    case 'Coproc':
      return children(forked(scope));
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion':
      if (node.script === undefined) walk.doubts.add('syntax');
      if (scope.depth > maxDepth) walk.doubts.add('too-large');
      else children({ ...forked(scope), input: inherited, depth: scope.depth + 1 });
      return;
    case 'Transform':
      if (node.operand.text === 'P') walk.doubts.add('computed-code');
      return;
    case 'AnsiCQuoted':
    case 'ArithmeticCommand':
    case 'ArithmeticFor':
      // Other shells read these as something else.
      if (scope.dialect === 'posix') walk.doubts.add('syntax');
      return children(scope);
    default:
      return children(scope);
  }
};

const walkSource = (source: string, walk: Walk, scope: Scope): void => {
  if (scope.depth > maxDepth) {
    walk.doubts.add('too-large');
    return;
  }
  const script: ParsedScript = parse(source);
  walkNode(script, walk, scope);
};

/** Reads a script without running anything. What it cannot make out, it doubts. */
export const readScript = (source: string, facts: ShellFacts, dialect: Dialect = 'bash'): ScriptReading => {
  const walk: Walk = { facts, calls: [], doubts: new Set(), forkBomb: false, bracesLeft: maxBraces };
  const state: ShellState = { cwd: facts.cwd, variables: new Map() };
  walkSource(source, walk, { state, input: inherited, background: false, wrappers: [], dialect, depth: 0 });
  return { calls: walk.calls, doubts: [...walk.doubts], forkBomb: walk.forkBomb };
};
