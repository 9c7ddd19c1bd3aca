/*
 * Which files the file tools keep away from, as data. Everything is compared in lower case and with forward slashes; `*` stands for any part of one name.
 */

/** Folders of credentials, wherever they stand; what is inside them is denied. */
export const credentialFolders: readonly string[] = [
  '.ssh', '.gnupg', '.aws', '.kube', '.azure', '.oci', '.password-store', '.terraform.d', '.minisign', '.step', '.bitwarden', '.1password', '.electrum', '.bitcoin', '.ethereum',
  '.config/gcloud', '.config/gh', '.config/hub', '.config/glab-cli', '.config/op', '.config/1password', '.config/bitwarden', '.config/bitwarden cli', '.config/doctl', '.config/heroku', '.config/sops', '.config/age',
  '.config/rclone', '.config/solana', '.config/github-copilot', '.config/keepassxc', '.config/containers/auth.json', '.local/share/keyrings', '.local/share/kwalletd', '.local/share/opencode/auth.json',
  '.subversion/auth', 'library/keychains', 'library/cookies', 'appdata/roaming/microsoft/credentials', 'appdata/local/microsoft/credentials', 'appdata/roaming/microsoft/protect',
  // Browser and mail profiles: cookies and saved passwords.
  '.mozilla', '.thunderbird', '.librewolf', '.config/google-chrome', '.config/google-chrome-beta', '.config/chromium', '.config/bravesoftware', '.config/microsoft-edge', '.config/opera', '.config/vivaldi',
  'snap/firefox', 'snap/chromium', '.var/app/org.mozilla.firefox', '.var/app/com.google.chrome', '.var/app/org.chromium.chromium', '.var/app/com.brave.browser',
  'library/application support/google/chrome', 'library/application support/firefox', 'library/application support/chromium', 'library/application support/bravesoftware',
  'library/application support/microsoft edge', 'library/application support/vivaldi', 'library/application support/arc', 'library/safari',
  'appdata/local/google/chrome', 'appdata/local/microsoft/edge', 'appdata/local/bravesoftware', 'appdata/local/chromium', 'appdata/roaming/mozilla', 'appdata/roaming/opera software',
];

/** Names of files that hold credentials, in any folder. */
export const credentialNames: readonly string[] = [
  '.env', '.env.*', '.envrc', '.netrc', '_netrc', '.npmrc', '.pypirc', '.pgpass', '.my.cnf', '.mylogin.cnf', '.git-credentials', '.dockercfg', '.htpasswd', '.s3cfg', '.boto', '.vault-token', '.msmtprc', '.mbsyncrc',
  '.fetchmailrc', '.rclone.conf', '.credentials.json', '.yarnrc.yml', 'id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*', 'ssh_host_*_key', '*.pem', '*.key', '*.p12', '*.pfx', '*.ppk', '*.jks', '*.keystore', '*.kdbx', '*.keytab',
  'credentials.json', 'credentials.toml', 'credentials.tfrc.json', 'oauth_creds.json', 'client_secret*.json', 'service-account*.json', 'service_account*.json', 'token.json', 'token.pickle', 'secrets.json', 'secrets.yaml',
  'secrets.yml', 'secrets.toml', 'wallet.dat',
];

/** Files to copy from; by custom they hold no secrets. */
export const harmlessNames: readonly string[] = ['.env.example', '.env.sample', '.env.template', '.env.dist', '.env.defaults', '.env.schema'];

/** Files with one place of their own below the user's folder. */
export const credentialFilesOfUser: readonly string[] = ['.docker/config.json', '.config/git/credentials', '.cargo/credentials', '.gem/credentials', '.m2/settings.xml', '.gradle/gradle.properties', '.config/composer/auth.json', '.composer/auth.json', '.codex/auth.json'];

/** Folders where reading or writing is talking to the machine, or where the system keeps its secrets. */
export const deniedFolders: readonly string[] = ['/proc', '/dev', '/sys', '/run/secrets', '/var/run/secrets', '/run/credentials', '/etc/ssl/private', '/etc/sudoers', '/etc/sudoers.d', '/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/master.passwd', '/etc/security/opasswd', '/etc/krb5.keytab'];

/** What holds credentials or conversations, below the gateway's home or the home of an agent. */
export const secretsOfHome: readonly string[] = ['gateway.db*', 'state.db*', 'auth.json', 'auth.lock', 'pairing', 'mcp-tokens', 'whatsapp', 'signal', 'backups', 'secrets', '*.bak', '.restore-*'];

/** What else the gateway keeps to itself there. */
export const privateOfHome: readonly string[] = ['gateway.lock*', 'gateway.pid', 'gateway-*.json', '.gateway-*', '*.sock', 'logs', 'processes', 'history'];

/** What an agent works with there. Everything else is the gateway's. */
export const openInHome: readonly string[] = ['workspace', 'media', 'cache', 'skills', 'memories'];

/** Folders below the home that hold one folder for each owner; nobody sees another's. */
export const foldersOfOthers: readonly string[] = ['profiles', 'agents', 'cache/results', 'media', 'processes'];

/** Why a change below the home asks first, by its first name; everything else there is the gateway's too. */
export const reasonsInHome: Readonly<Record<string, string>> = {
  'config.yaml': "changes the gateway's configuration",
  'config.yml': "changes the gateway's configuration",
  'soul.md': 'changes who the agent is',
  'hooks': 'changes code that the gateway runs by itself',
  'plugins': 'changes code that the gateway runs by itself',
  'scripts': 'changes code that the gateway runs by itself',
  'skills': 'changes what the agent is taught',
  'memories': 'changes what the agent remembers',
  'cron': 'changes what the gateway does by itself',
};

/** Below the user's folder: what other programs run by themselves, or obey. */
export const startupFilesOfUser: readonly string[] = [
  '.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.zshrc', '.zshenv', '.zprofile', '.zlogin', '.zlogout', '.kshrc', '.cshrc', '.tcshrc', '.login', '.inputrc', '.xinitrc', '.xprofile', '.xsession',
  '.config/fish', '.config/autostart', '.config/systemd', '.config/environment.d', '.local/share/systemd', '.local/bin', 'bin', 'library/launchagents', '.gitconfig', '.config/git', '.vimrc', '.config/nvim', '.emacs.d', '.crontab',
  'appdata/roaming/microsoft/windows/start menu/programs/startup', 'documents/windowspowershell', 'documents/powershell',
];

/** Below any folder: what git runs. */
export const startupFilesAnywhere: readonly string[] = ['.git/hooks', '.git/config'];

/** Folders of the operating system. */
export const systemFolders: readonly string[] = ['/etc', '/private/etc', '/usr', '/bin', '/sbin', '/lib', '/lib64', '/boot', '/opt', '/var/spool/cron', '/var/lib', '/system', '/library', '/applications', 'c:/windows', 'c:/program files'];
