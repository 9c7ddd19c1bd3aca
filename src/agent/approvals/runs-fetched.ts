import { posix } from 'node:path';
import { pathOf } from './rule.ts';
import type { CommandFacts } from './rule.ts';
import type { Field, ShellCall } from './shell/call.ts';
import { writtenPaths } from './written-paths.ts';

const fetchers: readonly string[] = ['curl', 'wget', 'aria2c', 'fetch', 'http', 'scp'];

const addressName = (field: Field): string | undefined => {
  const url = /^[a-z]+:\/\//i.test(field.text) ? URL.parse(field.text) : null;
  const name = url === null ? '' : posix.basename(url.pathname);
  return name === '' ? undefined : name;
};

/** Files that a command fetches from elsewhere, by the name it is told or by the address. */
const fetchedBy = (call: ShellCall, facts: CommandFacts): readonly string[] => {
  const named = call.args.flatMap((field) => addressName(field) ?? []).map((name) => pathOf({ text: name, computed: false, glob: false }, call, facts));
  return [...writtenPaths(call, facts), ...named];
};

/** Whether a script runs a file that it has fetched from the network itself. */
export const runsFetched = (calls: readonly ShellCall[], facts: CommandFacts): boolean => {
  const fetched = new Set(calls.flatMap((call) => (fetchers.includes(call.name) ? fetchedBy(call, facts) : [])));
  if (fetched.size === 0) return false;
  const runs = /^(?:ba|da|a|k|z|fi)?sh$|^(?:source|\.)$|^(?:python|perl|ruby|node|php|lua|bun|deno)[\d.]*$/;
  return calls.some((call) => [call.command, ...(runs.test(call.name) ? call.args : [])].some((field) => fetched.has(pathOf(field, call, facts))));
};
