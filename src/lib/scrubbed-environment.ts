type Environment = Readonly<Record<string, string | undefined>>;

export interface EnvironmentRules {
  /** Further variables that the owner lets through, by name. */
  readonly passthrough: readonly string[];
  /** Variables that hold secrets of ours; they are kept back even if they are let through. */
  readonly withheld: ReadonlySet<string>;
}

/** What programs need to find themselves, their user and their language. */
const harmless: readonly string[] = [
  'PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TERM', 'COLORTERM', 'TMPDIR', 'TMP', 'TEMP', 'TZ',
  'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_DIRS', 'XDG_DATA_DIRS',
  'SYSTEMROOT', 'WINDIR', 'COMSPEC', 'PATHEXT', 'USERPROFILE', 'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA', 'PROGRAMFILES',
];

const isHarmless = (name: string): boolean => harmless.includes(name.toUpperCase()) || /^LC_[A-Z]+$/.test(name);

/** The environment of a child process: nothing of ours but a short list and what the owner lets through. Never a secret of ours. */
export const scrubbedEnvironment = (source: Environment, rules: EnvironmentRules): Readonly<Record<string, string>> => {
  const passed = new Set(rules.passthrough);
  const kept = Object.entries(source).filter((entry): entry is [string, string] => {
    const [name, value] = entry;
    return value !== undefined && !rules.withheld.has(name) && (isHarmless(name) || passed.has(name));
  });
  return Object.fromEntries(kept);
};
