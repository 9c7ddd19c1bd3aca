import { createHash } from 'node:crypto';
import { InvalidArgumentError } from 'commander';
import { resolveHome } from '../../config/home.ts';
import { findPersonFiles } from '../../portability/person/person-files.ts';
import type { PersonFiles } from '../../portability/person/person-files.ts';
import { homeOfAgent } from '../../routing/agent-home.ts';
import { agentIds } from '../../routing/select-agent.ts';
import { findPerson } from '../../store/person/find-person.ts';
import type { Person, PersonData } from '../../store/person/find-person.ts';
import type { Store } from '../../store/store.ts';
import type { Config } from '../configuration/settings.ts';
import type { Terminal } from '../environment.ts';

/** `telegram:7`, `matrix@work:@ann:example.org`: everything behind the first colon is the id. */
export const readPerson = (text: string): Person => {
  const [, account, userId] = /^([^:\s]+):(.+)$/s.exec(text.trim()) ?? [];
  if (account === undefined || userId === undefined) throw new InvalidArgumentError('an account and an id, such as telegram:1001');
  return { account, userId };
};

/** Stands for somebody where their id must not: whoever knows the id can still tell that it was them. */
export const printOf = ({ account, userId }: Person): string => createHash('sha256').update(JSON.stringify([account, userId])).digest('hex').slice(0, 16);

/** A sentence when no account of this name is configured: the name may be mistyped. */
export const strangeAccount = ({ accounts, disabled }: Config, name: string): readonly string[] =>
  [...accounts, ...disabled].some(({ account }) => account === name) ? [] : [`There is no account ${name}. Accounts: ${accounts.map(({ account }) => account).join(', ')}.`];

export interface FoundPerson {
  readonly person: Person;
  readonly home: string;
  readonly agentHomes: readonly string[];
  readonly data: PersonData;
  readonly files: PersonFiles;
}

/** Everything that is kept of somebody, in the store and in files. */
export const lookUpPerson = async (terminal: Terminal, store: Store, at: { readonly config: Config; readonly person: Person }): Promise<FoundPerson> => {
  const { config, person } = at;
  const home = resolveHome(terminal.env);
  const { agents, memory } = config.sections;
  const agentHomes = agentIds({ agents }).map((id) => homeOfAgent(home, id, agents[id]));
  const data = await store.read((db) => findPerson(db, person));
  return { person, home, agentHomes, data, files: await findPersonFiles(person, data, { home, agentHomes, memory }) };
};
