import { isCredential, isGatewayFile, isGatewayHome, isGatewayPrivate, isGatewaySecret, isStartupFile, isSystemPath, isVital } from './path-classes.ts';
import { hasOption, hasWord, operands, pathOf, pathsIn } from './rule.ts';
import type { CommandFacts, Rule } from './rule.ts';
import type { ShellCall } from './shell/call.ts';
import { opensWhatItWalks, walkedFolders } from './walked-folders.ts';
import { writtenPaths } from './written-paths.ts';

const writes = (is: (path: string, facts: CommandFacts) => boolean) => (call: ShellCall, facts: CommandFacts): boolean => writtenPaths(call, facts).some((path) => is(path, facts));

/** They name files, but do not show what is in them. */
const onlyNaming: readonly string[] = ['ls', 'stat', 'test', '[', 'cd', 'pushd', 'echo', 'printf', 'basename', 'dirname', 'realpath', 'readlink', 'chmod', 'chown', 'mkdir', 'touch', 'rm', 'rmdir', 'du', 'df', 'file', 'export', 'ssh-add', 'ssh', 'alias'];

const reads = (is: (path: string, facts: CommandFacts) => boolean) => (call: ShellCall, facts: CommandFacts): boolean => {
  const opened = call.redirections.filter(({ kind }) => kind === 'read').map(({ path }) => pathOf(path, call, facts));
  const named = onlyNaming.includes(call.name) ? [] : [...call.args, ...(call.name === '' ? [] : [call.command])].flatMap((field) => pathsIn(field, call, facts));
  return [...opened, ...named].some((path) => is(path, facts));
};

const worldWritable = /^(?:0?[0-7]?[0-7][0-7][2367]|[augo]*[ao][augo]*[+=][rwxst]*w[rwxst]*|[+=][rwxst]*w[rwxst]*)$/;

const rm: readonly string[] = ['rm', 'grm', 'srm', 'rimraf', 'del-cli'];

/** What may be lost or laid open on the disk. */
export const fileRules: readonly Rule[] = [
  { pattern: 'rm -r', reason: 'deletes folders with everything in them', names: ['rm', 'grm', 'srm'], when: (call) => hasOption(call, 'rR', 'recursive') },
  { pattern: 'rm -r', reason: 'deletes folders with everything in them', names: ['rimraf', 'del-cli'] },
  { pattern: 'xargs rm', reason: 'deletes whatever another command names', names: [...rm, 'unlink', 'shred'], when: (call) => call.wrappers.some((wrapper) => ['xargs', 'gxargs', 'parallel'].includes(wrapper)) },
  { pattern: 'find -delete', reason: 'deletes whatever it finds', names: ['find', 'gfind', 'bfind'], when: (call) => hasWord(call, '-delete') },
  { pattern: 'find -delete', reason: 'deletes whatever it finds', names: [...rm, 'unlink', 'shred', 'rmdir'], when: (call) => call.wrappers.some((wrapper) => ['find', 'gfind', 'bfind', 'fd', 'fdfind'].includes(wrapper)) },
  { pattern: 'shred', reason: 'destroys files beyond recovery', names: ['shred', 'srm', 'wipe'] },
  { pattern: 'rsync --delete', reason: 'deletes what the source does not have', names: ['rsync', 'rclone'], when: (call) => call.args.some((field) => field.text.startsWith('--del')) || hasWord(call, 'sync', 'purge', 'delete') },
  { pattern: 'move into nothing', reason: 'moves files to where they are lost', names: ['mv'], when: (call) => operands(call).at(-1)?.text === '/dev/null' },
  { pattern: 'move a system folder', reason: 'moves a system folder or a home folder', names: ['mv'], when: (call, facts) => operands(call).slice(0, -1).some((field) => isVital(pathOf(field, call, facts), facts.home)) },
  { pattern: 'chmod for everybody', reason: 'lets everybody on the machine change files', names: ['chmod', 'gchmod'], when: (call) => call.args.some((field) => worldWritable.test(field.text)) },
  { pattern: 'chmod -R', reason: 'changes the rights of a whole folder', names: ['chmod', 'gchmod', 'setfacl'], when: (call) => hasOption(call, 'R', 'recursive') },
  { pattern: 'chmod +s', reason: "lets a program run with somebody else's rights", names: ['chmod', 'gchmod', 'setcap'], when: (call) => call.name === 'setcap' || call.args.some((field) => /^[augo]*[+=][rwxt]*s|^[2467][0-7]{3}$/.test(field.text)) },
  { pattern: 'chown -R', reason: 'gives a whole folder to another owner', names: ['chown', 'gchown', 'chgrp'], when: (call) => hasOption(call, 'R', 'recursive') },
  { pattern: 'chattr', reason: 'locks or unlocks files against changes', names: ['chattr', 'chflags'] },
  { pattern: 'dd', reason: 'copies raw data', names: ['dd'], when: (call) => call.args.some((field) => field.text.startsWith('of=') && field.text !== 'of=/dev/null') },
  { pattern: 'mkfs', reason: 'makes a file system', names: ['mkfs', 'mkfs.*', 'mke2fs', 'newfs', 'newfs_*', 'mkswap'] },
  { pattern: 'partition a disk', reason: 'changes disks or partitions', names: ['fdisk', 'gdisk', 'sgdisk', 'sfdisk', 'parted', 'wipefs', 'cryptsetup', 'lvremove', 'vgremove', 'zpool', 'zfs', 'btrfs', 'mdadm', 'diskutil', 'hdiutil'], when: (call) => !hasOption(call, 'l', 'list', 'version', 'help') && !hasWord(call, 'list', 'status', 'info', 'get', 'history', 'print') },
  { pattern: 'write a system file', reason: 'changes files of the operating system', names: ['*'], when: writes((path) => isSystemPath(path)) },
  { pattern: 'write a startup file', reason: 'changes a file that something runs by itself later', names: ['*'], when: writes((path) => isStartupFile(path)) },
  { pattern: 'write credentials', reason: 'changes a file that holds credentials', names: ['*'], when: writes((path) => isCredential(path)) },
  { pattern: 'write gateway files', reason: "changes the gateway's own files", names: ['*'], when: writes((path, { gateway }) => isGatewayFile(path, gateway)) },
  { pattern: 'read credentials', reason: 'reads credentials', names: ['*'], when: reads((path, { gateway }) => isCredential(path) || isGatewaySecret(path, gateway)) },
  { pattern: 'read credentials', reason: "reads all of the gateway's files, credentials among them", names: ['*'], when: (call, facts) => opensWhatItWalks(call) && walkedFolders(call, facts).some((path) => isGatewayHome(path, facts.gateway)) },
  { pattern: 'read gateway files', reason: "reads the gateway's own files", names: ['*'], when: reads((path, { gateway }) => isGatewayPrivate(path, gateway)) },
  { pattern: 'read credentials', reason: 'shows credentials', names: ['gpg'], when: (call) => hasOption(call, '', 'export-secret-keys', 'export-secret-subkeys', 'export-ownertrust') },
  { pattern: 'read credentials', reason: 'shows credentials', names: ['security'], when: (call) => hasWord(call, 'find-generic-password', 'find-internet-password', 'dump-keychain', 'export') },
  { pattern: 'read credentials', reason: 'shows credentials', names: ['pass', 'op', 'bw', 'secret-tool', 'kwallet-query', 'lpass', 'keyring', 'vault'], when: (call) => hasWord(call, 'show', 'read', 'get', 'list', 'lookup', 'kv', 'export', 'item') || call.name === 'kwallet-query' },
  { pattern: 'read credentials', reason: 'shows credentials', names: ['gh', 'glab', 'gcloud', 'az', 'aws', 'heroku', 'doctl'], when: (call) => hasWord(call, 'token', 'print-access-token', 'print-identity-token', 'get-access-token', 'get-session-token', 'get-secret-value', 'auth:token', 'export-credentials') },
  { pattern: 'read credentials', reason: 'shows credentials', names: ['kubectl', 'oc'], when: (call) => hasWord(call, 'secret', 'secrets') && hasWord(call, 'get', 'describe') },
];
