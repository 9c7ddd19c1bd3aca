import { endsInOrder } from './gateway-rules.ts';
import { hasOption, hasWord, operands, saysTo, verbs } from './rule.ts';
import type { Rule } from './rule.ts';
import type { ShellCall } from './shell/call.ts';

const systemdValues: readonly string[] = ['-H', '--host', '-M', '--machine', '-t', '--type', '-p', '--property', '-n', '--lines', '-o', '--output', '-s', '--signal', '--root'];

const packageVerbs = /^(?:install|reinstall|remove|purge|autoremove|upgrade|full-upgrade|dist-upgrade|update|downgrade|erase|add|del|delete|uninstall|tap|untap|refresh|rollback|-[a-z]*[SRU][a-z]*)$/;
const harmlessUpdate: readonly string[] = ['apt', 'apt-get', 'apk'];

/** Changes what is installed on the machine; `apt update` only reads lists. */
const changesPackages = (call: ShellCall): boolean => call.args.some((field) => packageVerbs.test(field.text) && !(field.text === 'update' && harmlessUpdate.includes(call.name))) && !hasOption(call, '', 'dry-run', 'simulate', 'help');

const global = (call: ShellCall): boolean => hasOption(call, 'g', 'global') || hasWord(call, 'global');

/** What changes the machine for everybody on it. */
export const systemRules: readonly Rule[] = [
  { pattern: 'sudo', reason: "runs with somebody else's rights", names: ['sudo', 'doas', 'su', 'pkexec', 'runuser', 'gosu', 'su-exec'], when: (call) => call.name !== 'sudo' || !/^(?:-l|-k|-K|-v|-V|--list|--version)$/.test(call.args[0]?.text ?? '') },
  { pattern: 'chroot', reason: 'leaves the ordinary root folder or namespace', names: ['chroot', 'nsenter', 'unshare', 'capsh', 'setpriv'] },
  {
    pattern: 'systemctl',
    reason: 'changes services of the machine',
    names: ['systemctl'],
    when: (call) => saysTo(call, ['stop|start|restart|reload|try-restart|reload-or-restart|kill|enable|disable|mask|unmask|reenable|isolate|edit|set-default|daemon-reexec|set-property|revert|link'], systemdValues),
  },
  { pattern: 'systemctl', reason: 'changes services of the machine', names: ['service', 'rc-service', 'sv', 'invoke-rc.d'], when: (call) => hasWord(call, 'stop', 'start', 'restart', 'reload', 'down', 'up', 'force-reload') },
  { pattern: 'systemctl', reason: 'changes services of the machine', names: ['launchctl'], when: (call) => !saysTo(call, ['list|print|help|version']) },
  { pattern: 'systemctl', reason: 'changes services of the machine', names: ['rc-update', 'update-rc.d', 'chkconfig', 'initctl', 'supervisorctl', 'systemd-run'], when: (call) => !hasWord(call, 'status', 'show', '--list') },
  { pattern: 'install packages', reason: 'changes what is installed on the machine', names: ['apt', 'apt-get', 'aptitude', 'dnf', 'yum', 'zypper', 'pacman', 'yay', 'paru', 'apk', 'brew', 'port', 'snap', 'flatpak', 'emerge', 'nix-env', 'pkg', 'pkg_add', 'choco', 'winget', 'scoop'], when: changesPackages },
  { pattern: 'install packages', reason: 'changes what is installed on the machine', names: ['dpkg', 'rpm', 'installer'], when: (call) => hasOption(call, 'irPUeF', 'install', 'remove', 'purge', 'upgrade', 'erase', 'pkg') },
  { pattern: 'install packages', reason: 'installs a package for the whole machine', names: ['npm', 'pnpm', 'yarn', 'bun'], when: (call) => global(call) && hasWord(call, 'install', 'i', 'add', 'uninstall', 'remove', 'rm', 'update', 'upgrade', 'link') },
  { pattern: 'install packages', reason: 'installs a package for the whole machine', names: ['pip', 'pip3', 'python*'], when: (call) => hasOption(call, '', 'break-system-packages') },
  { pattern: 'publish a package', reason: 'publishes or takes back a package', names: ['npm', 'pnpm', 'yarn', 'cargo', 'twine', 'gem', 'poetry', 'uv'], when: (call) => hasWord(call, 'publish', 'unpublish', 'yank', 'deprecate', 'upload') },
  { pattern: 'kill by name', reason: 'ends processes by name', names: ['pkill', 'killall', 'skill', 'xkill', 'fuser'], when: (call) => call.name !== 'fuser' || hasOption(call, 'k', 'kill') },
  { pattern: 'kill init', reason: 'ends the first process of the machine', names: ['kill'], when: (call) => operands(call).some((field) => field.text === '1') },
  { pattern: 'kill computed', reason: 'ends a process that is found while it runs', names: ['kill'], when: (call) => call.args.some((field) => field.computed) },
  { pattern: 'user accounts', reason: 'changes accounts or passwords', names: ['useradd', 'adduser', 'usermod', 'userdel', 'deluser', 'groupadd', 'groupmod', 'groupdel', 'gpasswd', 'passwd', 'chpasswd', 'chsh', 'visudo', 'vipw', 'chage', 'dscl', 'sysadminctl'] },
  { pattern: 'crontab', reason: 'changes what runs by itself at certain times', names: ['crontab'], when: (call) => !hasOption(call, 'l') },
  { pattern: 'crontab', reason: 'changes what runs by itself at certain times', names: ['at', 'batch', 'atrm'], when: (call) => !hasOption(call, 'l') },
  { pattern: 'mount', reason: 'mounts or unmounts a file system', names: ['mount', 'umount', 'fusermount', 'swapoff', 'swapon', 'losetup'], when: (call) => call.args.length > 0 && !hasOption(call, '', 'help', 'version') },
  { pattern: 'firewall', reason: 'changes the firewall or the network', names: ['iptables', 'ip6tables', 'nft', 'ufw', 'firewall-cmd', 'pfctl', 'iptables-restore'], when: (call) => !hasOption(call, 'L', 'list') && !hasWord(call, 'list', 'status') },
  { pattern: 'firewall', reason: 'changes the firewall or the network', names: ['ip', 'ifconfig', 'route', 'nmcli', 'networksetup', 'tc'], when: (call) => hasWord(call, 'add', 'del', 'delete', 'set', 'flush', 'down', 'change', 'replace', 'disconnect', 'off') },
  { pattern: 'kernel', reason: 'changes the running kernel', names: ['modprobe', 'insmod', 'rmmod', 'kexec', 'bpftool', 'dkms'], when: (call) => !hasOption(call, 'n', 'dry-run', 'version') },
  { pattern: 'kernel', reason: 'changes the running kernel', names: ['sysctl'], when: (call) => hasOption(call, 'wp', 'write', 'load', 'system') || call.args.some((field) => field.text.includes('=')) },
  { pattern: 'machine settings', reason: 'changes settings of the machine', names: ['hostnamectl', 'timedatectl', 'localectl', 'update-alternatives', 'update-grub', 'grub-install', 'efibootmgr', 'csrutil', 'spctl', 'pmset', 'nvram', 'setenforce', 'apparmor_parser'], when: (call) => verbs(call).length > 0 && !hasWord(call, 'status', 'show', 'list', '--display', '--list') },
  { pattern: 'defaults write', reason: 'changes settings of the machine', names: ['defaults', 'gsettings', 'dconf', 'reg', 'tccutil'], when: (call) => hasWord(call, 'write', 'delete', 'set', 'reset', 'import', 'add') },
  { pattern: 'gateway restart', reason: 'ends the gateway, or lets it start anew, once this answer is finished', names: ['*'], when: endsInOrder, ownerOnly: true },
  { pattern: 'gateway', reason: "changes the gateway's settings or who may use it", names: ['hermes', 'hermes.js'], when: (call) => !endsInOrder(call) && !saysTo(call, ['status|version|help|trace|explain|doctor|completion', 'gateway status', 'sessions list|show|search|export', 'config show|check|path', 'access list', 'pairing list']) && !hasOption(call, 'hV', 'help', 'version') },
  { pattern: 'gateway', reason: 'starts or changes a gateway', names: ['node', 'npx', 'bunx', 'deno', 'bun'], when: (call) => !endsInOrder(call) && call.args.some((field) => /(?:^|\/)hermes(?:-gateway|\.js)?(?:@.*)?$/i.test(field.text)) && !hasWord(call, 'status', 'trace', 'explain') },
];
