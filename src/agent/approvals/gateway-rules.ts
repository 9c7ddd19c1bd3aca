import { hasOption, hasWord, operands } from './rule.ts';
import type { CommandFacts } from './rule.ts';
import type { ShellCall } from './shell/call.ts';

/** Our own names, as services, containers and programs have them. */
const ours = /hermes/i;

const stopping = /^(?:stop|restart|kill|try-restart|reload-or-restart|condrestart|disable|mask|unload|bootout|kickstart|remove|delete|down|rm|pause|uninstall|force-stop|quit)$/i;

/** Programs that stop services, containers and sessions by name. */
const serviceTools: readonly string[] = ['systemctl', 'service', 'rc-service', 'launchctl', 'initctl', 'supervisorctl', 'pm2', 'docker', 'podman', 'nerdctl', 'docker-compose', 'kubectl', 'sv', 's6-svc', 'monit', 'tmux', 'screen'];

const looksUp: readonly string[] = ['pgrep', 'pidof', 'ps', 'lsof', 'fuser', 'ss', 'netstat', 'cat', 'grep', 'awk'];

const mentionsUs = (call: ShellCall): boolean => [call.command, ...call.args].some((field) => ours.test(field.text));

const stopsService = (call: ShellCall): boolean => serviceTools.includes(call.name) && mentionsUs(call) && call.args.some((field) => stopping.test(field.text) || field.text.startsWith('kill-'));

/** What follows `hermes gateway`, however the program is started. */
const gatewayWords = (call: ShellCall): readonly string[] => {
  const words = [call.command, ...call.args].map((field) => field.text.toLowerCase());
  const own = words.findIndex((word) => /(?:^|\/)hermes(?:-gateway|\.js)?(?:@.*)?$/.test(word) || /hermes[^/]*\/src\/cli\/main\.ts$/.test(word));
  const said = own === -1 ? [] : words.slice(own + 1);
  const at = said.findIndex((word) => !word.startsWith('-'));
  return said[at] === 'gateway' ? said.slice(at + 1) : [];
};

const verbOf = (words: readonly string[]): string => words.find((word) => !word.startsWith('-')) ?? '';

/** `hermes gateway restart` and `stop`: inside a turn they wait for its end, so nothing is torn down under it. */
export const endsInOrder = (call: ShellCall): boolean => /^(?:stop|restart)$/.test(verbOf(gatewayWords(call)));

/** Ways of the program itself to pull the gateway away from under the turn. */
const stopsByCommand = (call: ShellCall): boolean => {
  const words = gatewayWords(call);
  return /^(?:kill|uninstall|replace)$/.test(verbOf(words)) || words.includes('--replace');
};

/**
 * Whether a pattern may match a text. It is somebody else's, so it is not run: what is not plain letters and dots counts as a match.
 */
const mayMatch = (pattern: string, text: string): boolean => {
  const letters = pattern.replace(/^\^|\$$/g, '').replaceAll(/\[([\w/-])\]/g, '$1').replaceAll('\\.', '\n').split(/\.[*+]?/).map((part) => part.replaceAll('\n', '.'));
  return letters.some((part) => /[|?*+(){}[\]\\^$]/.test(part)) || letters.every((part) => text.includes(part));
};

const endsByName = (call: ShellCall, facts: CommandFacts): boolean => {
  if (!['pkill', 'killall', 'skill', 'killall5'].includes(call.name)) return false;
  const { commandLine } = facts.gateway;
  const program = commandLine.split(/\s/, 1)[0]?.split('/').at(-1) ?? '';
  const whole = call.name === 'pkill' && hasOption(call, 'f', 'full');
  return operands(call).some(({ text }) => ours.test(text) || mayMatch(text, program) || (whole && mayMatch(text, commandLine)));
};

const endsById = (call: ShellCall, facts: CommandFacts, calls: readonly ShellCall[]): boolean => {
  if (call.name !== 'kill') return false;
  const { pid, home } = facts.gateway;
  if (hasWord(call, String(pid), `-${pid}`)) return true;
  if (!call.args.some((field) => field.computed)) return false;
  return calls.some((other) => looksUp.includes(other.name) && (mentionsUs(other) || other.args.some((field) => field.text.includes(home) || field.text === 'node')));
};

/** Whether a command would stop or restart the gateway under the turn that runs it. No setting allows that: whoever runs the gateway does it from outside. */
export const stopsGateway = (calls: readonly ShellCall[], facts: CommandFacts): boolean =>
  calls.some((call) => stopsService(call) || stopsByCommand(call) || endsByName(call, facts) || endsById(call, facts, calls));
