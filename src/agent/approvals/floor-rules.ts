import { isRawDevice, isVital } from './path-classes.ts';
import { hasOption, hasWord, operands, pathOf, saysTo } from './rule.ts';
import type { CommandFacts, Rule } from './rule.ts';
import type { Field, ShellCall } from './shell/call.ts';
import { writtenPaths } from './written-paths.ts';

const anyVital = (fields: readonly Field[], call: ShellCall, facts: CommandFacts): boolean => fields.some((field) => isVital(pathOf(field, call, facts), facts.home));

const onDevice = (call: ShellCall, facts: CommandFacts): boolean => operands(call).some((field) => isRawDevice(pathOf(field, call, facts)));

/** Tests by which `find` picks some of the files. */
const narrowing = /^-(?:i?name|i?path|i?wholename|i?regex|newer\w*|[acm]time|[acm]min|size|empty|user|group|uid|gid|perm|links|samefile|inum|fstype|nouser|nogroup|used)$/;

const startsOf = (call: ShellCall): readonly Field[] => {
  const args = call.args.filter((field) => !/^-[HLPDO]/.test(field.text));
  const end = args.findIndex((field) => /^[-(!]/.test(field.text));
  const starts = end === -1 ? args : args.slice(0, end);
  return starts.length === 0 ? [{ text: '.', computed: false, glob: false }] : starts;
};

const findsEverything = (call: ShellCall, facts: CommandFacts): boolean => !call.args.some((field) => narrowing.test(field.text)) && anyVital(startsOf(call), call, facts);

const removers = /(?:^|\/)(?:rm|shred|unlink|srm)$/;

/** `kill [-signal] pid…`: the process ids. */
const killTargets = (call: ShellCall): readonly string[] => {
  const texts = call.args.map((field) => field.text);
  const [first = '', second = ''] = texts;
  if (first === '-s' || first === '-n' || first === '--signal') return texts.slice(2).filter((text) => text !== '--');
  if (first === '--') return texts.slice(1);
  if (first.startsWith('-')) return texts.length === 1 ? texts : texts.slice(second === '--' ? 2 : 1);
  return texts;
};

/** What never runs, whatever a setting, a person or a model says. */
export const floorRules: readonly Rule[] = [
  { pattern: 'delete everything', reason: 'deletes the whole system, a system folder or a home folder', names: ['rm', 'grm', 'srm'], when: (call, facts) => hasOption(call, 'rR', 'recursive') && anyVital(operands(call), call, facts) },
  { pattern: 'delete everything', reason: 'deletes the whole system, a system folder or a home folder', names: ['rimraf', 'del-cli', 'trash'], when: (call, facts) => anyVital(operands(call), call, facts) },
  {
    pattern: 'delete everything',
    reason: 'deletes everything below a system folder or a home folder',
    names: ['find', 'gfind', 'bfind'],
    when: (call, facts) => (hasWord(call, '-delete') || call.args.some((field) => removers.test(field.text))) && findsEverything(call, facts),
  },
  { pattern: 'delete everything', reason: 'makes a system folder or a home folder as empty as another one', names: ['rsync'], when: (call, facts) => call.args.some((field) => field.text.startsWith('--del')) && anyVital(operands(call).slice(-1), call, facts) },
  { pattern: 'format', reason: 'formats a disk', names: ['mkfs', 'mkfs.*', 'mke2fs', 'newfs', 'newfs_*', 'mkswap', 'mkdosfs', 'mkntfs'], when: onDevice },
  { pattern: 'format', reason: 'formats a disk', names: ['diskutil'], when: (call) => verbsBegin(call, ['erase', 'partitiondisk', 'secureerase', 'zerodisk', 'randomdisk', 'reformat']) || (saysTo(call, ['apfs']) && call.args.some((field) => /^(?:delete|erase)/i.test(field.text))) },
  { pattern: 'wipe a disk', reason: 'wipes a disk', names: ['blkdiscard', 'shred', 'pvremove'], when: onDevice },
  { pattern: 'wipe a disk', reason: 'wipes a disk', names: ['wipefs'], when: (call, facts) => hasOption(call, 'ao', 'all', 'offset') && onDevice(call, facts) },
  {
    pattern: 'wipe a disk',
    reason: 'wipes a disk or its partitions',
    names: ['sgdisk', 'sfdisk', 'parted', 'hdparm', 'nvme', 'gdisk'],
    when: (call, facts) => onDevice(call, facts) && call.args.some((field) => /^-[Zzod]|^--(?:zap|clear|delete|wipe|security-erase|trim-sector|write-sector|make-bad)|^(?:mklabel|mktable|mkpart|rm|format|sanitize|write-zeroes)$/.test(field.text)),
  },
  { pattern: 'wipe a disk', reason: 'wipes an encrypted disk', names: ['cryptsetup'], when: (call) => saysTo(call, ['luksformat|erase|lukserase|reencrypt']) },
  { pattern: 'write to a device', reason: 'writes straight to a disk, to memory or to another device', names: ['*'], when: (call, facts) => writtenPaths(call, facts).some(isRawDevice) },
  { pattern: 'kill everything', reason: 'ends every process', names: ['kill'], when: (call) => killTargets(call).includes('-1') },
  { pattern: 'kill everything', reason: 'ends every process', names: ['killall5'] },
  { pattern: 'shutdown', reason: 'shuts the machine down or restarts it', names: ['shutdown', 'reboot', 'halt', 'poweroff'], when: (call) => !hasOption(call, '', 'help', 'version') },
  { pattern: 'shutdown', reason: 'shuts the machine down or restarts it', names: ['init', 'telinit'], when: (call) => hasWord(call, '0', '6') },
  { pattern: 'shutdown', reason: 'shuts the machine down or restarts it', names: ['systemctl', 'loginctl'], when: (call) => saysTo(call, ['poweroff|reboot|halt|kexec|soft-reboot|suspend|hibernate|rescue|emergency|exit'], ['-H', '-M', '--host', '--machine']) || hasWord(call, 'poweroff.target', 'reboot.target', 'halt.target') },
  { pattern: 'password to sudo', reason: 'feeds a password to sudo', names: ['sudo'], when: (call) => sudoReadsInput(call) },
];

const verbsBegin = (call: ShellCall, beginnings: readonly string[]): boolean => {
  const first = operands(call)[0]?.text.toLowerCase() ?? '';
  return beginnings.some((beginning) => first.startsWith(beginning));
};

const sudoReadsInput = (call: ShellCall): boolean => {
  const command = call.args.findIndex((field) => !field.text.startsWith('-'));
  const own = command === -1 ? call.args : call.args.slice(0, command);
  return own.some((field) => field.text === '--stdin' || /^-[A-Za-z]*S/.test(field.text));
};
