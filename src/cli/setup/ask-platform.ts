import { platforms } from '../../platforms/registry.ts';
import type { Platform } from '../../platforms/contract.ts';
import { accountPath, accountSettings, settingChange } from './account-settings.ts';
import type { AccountSetting } from './account-settings.ts';
import { checkDrafted, draftedAccount, problemText } from './account-check.ts';
import type { EffectiveSetting } from '../../config/settings/effective-settings.ts';
import type { Prompts } from './prompts.ts';
import type { SetupRun } from './run.ts';

interface Place {
  readonly platform: Platform;
  readonly account: string;
}

/** Platforms that somebody has to set up to talk there. */
export const messengers = (): readonly Platform[] => platforms.filter(({ alwaysOn, surface }) => !alwaysOn && surface !== 'machine');

const current = (run: SetupRun, account: string, key: string): EffectiveSetting | undefined => {
  const loaded = run.draft.load();
  const path = `${accountPath(account)}.${key}`;
  return loaded.ok ? loaded.settings.find((setting) => setting.path.join('.') === path && setting.source !== 'default') : undefined;
};

/** The page and the terminal are always there; whoever has a messenger already may want nothing else. */
const choosePlatform = (run: SetupRun, prompts: Prompts): Promise<Platform | 'none'> => {
  const loaded = run.draft.load();
  const configured = new Set(loaded.ok ? loaded.accounts.map(({ platform }) => platform) : []);
  return prompts.choose<Platform | 'none'>({
    message: 'Where do you want to talk to the agent, besides the web page and the terminal?',
    options: [
      ...messengers().map((platform) => ({ value: platform, label: platform.label, ...(configured.has(platform.name) && { hint: 'configured' }) })),
      { value: 'none', label: 'Nowhere else for now', hint: 'skip this step' },
    ],
    ...(messengers().some(({ name }) => configured.has(name)) && { initial: 'none' }),
  });
};

/** What is wrong with an answer, by the same rules as for the files. */
const complaint = (run: SetupRun, place: Place, setting: AccountSetting) => (typed: string): string | undefined => {
  if (typed.trim() === '') return setting.isRequired ? 'This is needed.' : undefined;
  const change = settingChange(run.draft, { account: place.account, setting }, typed.trim());
  const found = run.draft.problemsOf([change]);
  if ('refused' in found) return found.refused;
  return found.serious.find(({ path }) => path.startsWith(change.path))?.message;
};

/** A secret that is there already can stay without being typed again. */
const askSecret = async (run: SetupRun, prompts: Prompts, asked: { readonly place: Place; readonly setting: AccountSetting }): Promise<string | undefined> => {
  const { place, setting } = asked;
  const known = current(run, place.account, setting.key);
  if (known !== undefined) {
    const isKept = await prompts.choose({
      message: setting.about,
      options: [
        { value: true, label: `Keep ${String(known.value)}`, hint: known.source },
        { value: false, label: 'Type another one' },
      ],
    });
    if (isKept) return undefined;
  }
  return prompts.askSecret({ message: setting.about, validate: complaint(run, place, setting) });
};

const askValue = async (run: SetupRun, prompts: Prompts, asked: { readonly place: Place; readonly setting: AccountSetting }): Promise<string | undefined> => {
  const { place, setting } = asked;
  const known = current(run, place.account, setting.key);
  const shown = known === undefined ? undefined : Array.isArray(known.value) ? known.value.join(', ') : String(known.value);
  switch (setting.kind) {
    case 'yes-no':
      return String(await prompts.confirm(setting.about, shown === 'true'));
    case 'choice':
      return prompts.choose({ message: setting.about, options: setting.choices.map((value) => ({ value, label: value })), ...(shown !== undefined && { initial: shown }) });
    case 'text':
    case 'list':
      return prompts.ask({ message: setting.kind === 'list' ? `${setting.about}, with commas between` : setting.about, ...(shown !== undefined && { initial: shown }), validate: complaint(run, place, setting) });
    default:
      return setting.kind satisfies never;
  }
};

const askSetting = async (run: SetupRun, prompts: Prompts, asked: { readonly place: Place; readonly setting: AccountSetting }): Promise<void> => {
  const typed = asked.setting.isSecret ? await askSecret(run, prompts, asked) : await askValue(run, prompts, asked);
  if (typed === undefined || typed === '') return;
  const refused = run.draft.set([settingChange(run.draft, { account: asked.place.account, setting: asked.setting }, typed)]);
  if (refused !== undefined) prompts.say('error', refused);
};

const askRequired = async (run: SetupRun, prompts: Prompts, place: Place): Promise<void> => {
  for (const setting of accountSettings(place.platform)) if (setting.isRequired) await askSetting(run, prompts, { place, setting });
};

/** Asks for whatever the account still lacks, until it could run. Answers whether it could. */
const complete = async (run: SetupRun, prompts: Prompts, place: Place): Promise<boolean> => {
  const settings = accountSettings(place.platform);
  const asked = new Set<string>();
  for (;;) {
    const drafted = draftedAccount(run, place.account);
    if (drafted.ok) return true;
    const start = `${accountPath(place.account)}.`;
    const lacking = settings.find(({ key }) => !asked.has(key) && drafted.problems.some(({ path }) => path === start + key));
    if (lacking === undefined) {
      prompts.say('error', problemText(drafted.problems));
      return false;
    }
    asked.add(lacking.key);
    await askSetting(run, prompts, { place, setting: lacking });
  }
};

const askMore = async (run: SetupRun, prompts: Prompts, place: Place): Promise<void> => {
  const settings = accountSettings(place.platform).filter(({ isRequired }) => !isRequired);
  if (settings.length === 0 || !(await prompts.confirm(`${place.platform.label} has ${settings.length} more settings. Change any?`, false))) return;
  for (;;) {
    const setting = await prompts.choose<AccountSetting | 'none'>({
      message: 'Which one?',
      options: [{ value: 'none', label: 'Enough' }, ...settings.map((value) => ({ value, label: value.key, hint: value.about }))],
    });
    if (setting === 'none') return;
    await askSetting(run, prompts, { place, setting });
  }
};

type AfterFailure = 'again' | 'keep' | 'leave';

const afterFailure = (prompts: Prompts): Promise<AfterFailure> =>
  prompts.choose<AfterFailure>({
    message: 'What now?',
    options: [
      { value: 'again', label: 'Change the settings and try again' },
      { value: 'keep', label: 'Keep them all the same', hint: 'the gateway goes on trying' },
      { value: 'leave', label: 'Leave it out' },
    ],
  });

/** Checks the account as often as the person wants. Answers whether it stays. */
const prove = async (run: SetupRun, prompts: Prompts, place: Place): Promise<boolean> => {
  for (;;) {
    const drafted = draftedAccount(run, place.account);
    if (!drafted.ok) return false;
    if (!run.skipChecks) prompts.say('info', `Asking ${place.platform.label} …`);
    const { note, identity } = await checkDrafted(run, place.platform, drafted.account);
    run.account = { name: place.account, label: place.platform.label, ...(identity !== undefined && { identity }) };
    if (note.outcome !== 'fails') prompts.say(note.outcome === 'works' ? 'success' : 'info', note.text);
    else prompts.say('error', `${note.text}\n${note.fix ?? ''}`);
    const next = note.outcome === 'fails' ? await afterFailure(prompts) : 'keep';
    if (next === 'again') {
      await askRequired(run, prompts, place);
      await askMore(run, prompts, place);
      continue;
    }
    run.checks.push(note);
    return next === 'keep';
  }
};

/** The step that connects a messenger. `wanted` has been chosen already. */
export const askPlatform = async (run: SetupRun, prompts: Prompts, wanted: Place | undefined): Promise<void> => {
  const chosen = wanted?.platform ?? (await choosePlatform(run, prompts));
  if (chosen === 'none') return;
  const place: Place = wanted ?? { platform: chosen, account: chosen.name };
  const goBack = run.draft.mark();
  const refused = run.draft.set([{ path: `${accountPath(place.account)}.enabled`, value: 'true' }]);
  if (refused !== undefined) {
    prompts.say('error', refused);
    return;
  }
  await askRequired(run, prompts, place);
  const stays = (await complete(run, prompts, place)) && (await askMore(run, prompts, place), await prove(run, prompts, place));
  if (stays) return;
  goBack();
  delete run.account;
  prompts.say('warning', `${place.platform.label} is left out. hermes setup platform asks again.`);
};
