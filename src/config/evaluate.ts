import type { Redactor } from '../lib/redact.ts';
import { accountOptions } from '../platforms/account-options.ts';
import { conceal, concealProblem, hasSecretInFile } from './secrets/conceal.ts';
import { effectiveSettings } from './settings/effective-settings.ts';
import type { EffectiveSetting } from './settings/effective-settings.ts';
import { layOut } from './text/layout.ts';
import type { Layout } from './text/layout.ts';
import { knownVariables, misspeltVariables } from './upkeep/misspelt-variables.ts';
import { parseEnvFile } from './text/parse-env-file.ts';
import type { EnvFile } from './text/parse-env-file.ts';
import { parseYaml } from './text/parse-yaml.ts';
import { problemAt } from './problem.ts';
import type { Problem } from './problem.ts';
import type { AccountConfig, AccountReading, DisabledAccount, PlatformFacts } from './read-accounts.ts';
import { readPlatforms } from './read-platforms.ts';
import { retireKeys } from './upkeep/retirements.ts';
import type { RetiredKey } from './upkeep/retirements.ts';
import type { PlatformReadings } from './read-platforms.ts';
import { checkSetting, onePerSetting, settleSetting } from './settings/read-setting.ts';
import type { SecretCommands } from './secrets/secret-commands.ts';
import { newSecretSources, sourceKey } from './secrets/secret-source.ts';
import type { SecretReadings, SecretSource } from './secrets/secret-source.ts';
import type { Section, SectionValues } from './section.ts';
import { emptyMap } from './settings/setting-node.ts';
import type { SettingNode } from './settings/setting-node.ts';
import { newVariables } from './variables.ts';
import type { Environment, Variables } from './variables.ts';

export const configFileName = 'config.yaml';
export const envFileName = '.env';

export interface ConfigInput<Sections extends readonly Section[]> {
  readonly home?: string;
  readonly env: Environment;
  readonly sections: Sections;
  readonly platforms: readonly PlatformFacts[];
  /** Learns every secret of the configuration, also of one that turns out to be wrong. */
  readonly redactor?: Redactor | undefined;
  /** What is known of the files and commands that hold secrets; `evaluateWithSecrets` asks them. */
  readonly secrets?: SecretReadings | undefined;
  /** Asks commands for secrets; whoever reads the configuration several times hands on the same. Otherwise they are asked at every reading. */
  readonly commands?: SecretCommands | undefined;
}

export interface ConfigTexts {
  readonly config: string | undefined;
  readonly env: string | undefined;
}

export interface ValidConfig<Sections extends readonly Section[]> {
  readonly ok: true;
  readonly sections: SectionValues<Sections>;
  /** Accounts that can run, in the order of the platforms given. */
  readonly accounts: readonly AccountConfig[];
  readonly disabled: readonly DisabledAccount[];
  readonly warnings: readonly Problem[];
  /** Every value in force with its source, secrets masked. */
  readonly settings: readonly EffectiveSetting[];
  /** Names of the files that say anything. */
  readonly files: readonly string[];
  /** A variable of the environment or `.env`, for settings that name one. */
  variable(name: string): string | undefined;
}

export interface InvalidConfig {
  readonly ok: false;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

export type LoadedConfig<Sections extends readonly Section[] = readonly Section[]> = ValidConfig<Sections> | InvalidConfig;

export interface Evaluation<Sections extends readonly Section[]> {
  readonly config: LoadedConfig<Sections>;
  /** Whether config.yaml itself holds a secret, and `.env` anything. */
  readonly holdsSecret: { readonly config: boolean; readonly env: boolean };
  /** Where secrets are that stand elsewhere, whether they could be had or not. */
  readonly sources: readonly SecretSource[];
  /** Sections that need nothing that stands elsewhere: the same whatever the sources say. None where something else is wrong with the files. */
  readonly alone: Partial<SectionValues<Sections>>;
}

/**
 * The configuration that these texts and this environment make. A mistake outside `platforms` makes all of it invalid;
 * one inside an account disables that account.
 */
export const evaluate = <const Sections extends readonly Section[]>(input: ConfigInput<Sections>, texts: ConfigTexts): Evaluation<Sections> => {
  const known = knownVariables(input.sections, input.platforms);
  const readings: SecretReadings = input.secrets ?? new Map();
  const secrets = newSecretSources({ readings, home: input.home, env: input.env });
  const beside = { env: input.env, fileName: envFileName, secrets, secretNames: new Set([...known].filter(([, { secret }]) => secret).map(([name]) => name)) };
  const outer = newVariables({ ...beside, envFile: noEntries });
  const envFile = parseEnvFile(texts.env ?? '', envFileName, (name) => outer.get(name)?.value);
  const askedByFiles = secrets.count > 0;
  const variables = newVariables({ ...beside, envFile });
  const parsed = parseYaml(texts.config ?? '', configFileName);
  const names = { sections: input.sections, platforms: input.platforms.map(({ name }) => name), accountKeys: Object.keys(accountOptions.shape) };
  const { root, retired, overruled } = retireKeys(parsed.ok ? parsed.root : emptyMap({ kind: 'default' }));
  const layout = layOut(root, names);
  const misspelt = misspeltVariables(variables, known);
  const sections = input.sections.map((section) => readSection(section, layout, variables));
  const platforms = readPlatforms(layout, input.platforms, { variables, misspelt });

  const nodes = [...sections, ...platforms.accounts].map(({ node }) => node).filter((node) => node !== undefined);
  const hidden = conceal(nodes, { envFile, secrets: readings }, input.redactor);
  const clean = (problem: Problem): Problem => concealProblem(problem, hidden);
  const warnings = [...layout.warnings, ...retired.map(hasMoved), ...overruled.map(isOverruled), ...repeatedNames(envFile), ...secrets.asked.flatMap((source) => exposed(source, readings)), ...misspelt.filter(({ certain }) => !certain).map(({ problem }) => problem)].map(clean);
  const disabled = disabledAccounts(platforms).map((entry) => ({ ...entry, problems: entry.problems.map(clean) }));
  const misnamed = misspelt.filter(({ certain, platform }) => certain && platform === undefined).map(({ problem }) => problem);
  const ofFiles = [...(parsed.ok ? [] : parsed.problems), ...envFile.problems, ...misnamed, ...layout.problems];
  const fatal = [...ofFiles, ...sections.flatMap(({ problems }) => problems)];
  const found = { holdsSecret: { config: nodes.some(hasSecretInFile), env: envFile.entries.length > 0 }, sources: secrets.asked, alone: (ofFiles.length > 0 || askedByFiles ? {} : aloneOf(sections)) as Partial<SectionValues<Sections>> };
  if (fatal.length > 0) {
    return { config: { ok: false, problems: [...fatal.map(clean), ...disabled.flatMap(({ problems }) => problems)].toSorted(byPlace), warnings }, ...found };
  }
  const values = valuesOf(sections);
  const together = checkTogether(input, values);
  if (together.problems.length > 0) return { config: { ok: false, problems: together.problems.map(clean), warnings }, ...found, alone: {} };
  const config: ValidConfig<Sections> = {
    ok: true,
    sections: values as SectionValues<Sections>,
    accounts: platforms.accounts.map(({ outcome }) => (outcome.state === 'ready' ? outcome.config : undefined)).filter((account) => account !== undefined),
    disabled,
    warnings: [...warnings, ...together.warnings.map(clean)],
    settings: [...sections.map((section) => ({ ...section, path: [section.name] })), ...platforms.accounts.map(withValue)].flatMap((reading) => effectiveSettings(reading, hidden)),
    files: [...(isBlank(texts.config) ? [] : [configFileName]), ...(isBlank(texts.env) ? [] : [envFileName])],
    variable: (name) => variables.get(name)?.value,
  };
  return { config, ...found };
};

const isOverruled = ({ from, to, entry }: RetiredKey): Problem => problemAt(entry.keyAt, from, { code: 'unused', message: `is not used: it is called ${to.join('.')} now, and that is set as well; remove one of the two` });

const hasMoved = ({ from, to, entry }: RetiredKey): Problem => problemAt(entry.keyAt, from, { code: 'retired', message: `is called ${to.join('.')} now; hermes config migrate rewrites the file` });

/** What no section can know by itself. */
const checkTogether = ({ sections, home }: ConfigInput<readonly Section[]>, values: Readonly<Record<string, unknown>>): { readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] } => {
  const found = sections.flatMap(({ name, check }) => (check === undefined ? [] : [{ name, ...check(values, home) }]));
  const problem = (code: 'invalid' | 'unused', name: string, message: string): Problem => ({ code, file: configFileName, path: name, message });
  return {
    problems: found.flatMap(({ name, errors }) => errors.map((message) => problem('invalid', name, message))),
    warnings: found.flatMap(({ name, warnings }) => warnings.map((message) => problem('unused', name, message))),
  };
};

const exposed = (source: SecretSource, readings: SecretReadings): readonly Problem[] => {
  const reading = readings.get(sourceKey(source));
  if (source.kind !== 'file' || reading?.ok !== true || !reading.exposed) return [];
  return [{ code: 'exposed', file: source.path, path: '', message: `holds a secret and can be read by other users of this machine; run: chmod 600 ${source.path}` }];
};

const isBlank = (text: string | undefined): boolean => (text ?? '').trim() === '';

const noEntries: EnvFile = { entries: [], problems: [] };

interface SectionReading extends Pick<Section, 'name' | 'schema'> {
  readonly node: SettingNode | undefined;
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Whether something was looked for that stands elsewhere. */
  readonly asks: boolean;
}

const valuesOf = (sections: readonly SectionReading[]): Readonly<Record<string, unknown>> => Object.fromEntries(sections.map(({ name, value }) => [name, value]));

const aloneOf = (sections: readonly SectionReading[]): Readonly<Record<string, unknown>> =>
  sections.some(({ problems, asks }) => problems.length > 0 && !asks) ? {} : valuesOf(sections.filter(({ asks }) => !asks));

const readSection = ({ name, schema }: Section, layout: Layout, variables: Variables): SectionReading => {
  const context = { variables, overlay: true, path: [name] };
  const before = variables.secrets.count;
  const { node, problems } = settleSetting(layout.sections.get(name)?.value, schema, context);
  const asks = variables.secrets.count > before;
  const checked = checkSetting(node, schema, context);
  if (checked.ok) return { name, schema, node, value: checked.value, problems: onePerSetting(problems), asks };
  return { name, schema, node, value: undefined, problems: onePerSetting([...problems, ...checked.problems]), asks };
};

const disabledAccounts = ({ accounts, nameless }: PlatformReadings): readonly DisabledAccount[] => [
  ...accounts.flatMap(({ account, platform, outcome }) => (outcome.state === 'broken' ? [{ account, platform, problems: outcome.problems, ...(outcome.isOptional === true && { isOptional: true as const }) }] : [])),
  ...nameless,
];

const withValue = ({ schema, node, path, outcome }: AccountReading) => ({
  schema,
  node,
  path,
  value: outcome.state === 'ready' ? { ...Object(outcome.config.options), ...outcome.config.common } : undefined,
});

const repeatedNames = ({ entries }: EnvFile): readonly Problem[] =>
  entries
    .filter(({ name }, index) => entries.findIndex((other) => other.name === name) < index)
    .map(({ name, line }) => problemAt({ kind: 'variable', name, file: envFileName, line }, [], { code: 'conflict', message: 'is set more than once; this one counts' }));

/** In the order in which a person walks through the files. */
const byPlace = (a: Problem, b: Problem): number => (a.file ?? '').localeCompare(b.file ?? '') || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
