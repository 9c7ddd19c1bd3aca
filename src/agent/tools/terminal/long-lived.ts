import type { ShellCall } from '../../approvals/shell/call.ts';

interface LongLived {
  readonly names: readonly string[];
  /** Words among its arguments that make it stay; without them it always does. */
  readonly words?: RegExp;
  /** Words that make it end after all. */
  readonly unless?: RegExp;
}

/** Programs that go on until somebody ends them. */
const servers: readonly LongLived[] = [
  { names: ['npm', 'pnpm', 'yarn', 'bun'], words: /^(?:start|dev|serve|watch|preview|develop)$/ },
  { names: ['vite'], unless: /^(?:build|optimize)$/ },
  { names: ['nodemon', 'live-server', 'http-server', 'serve', 'browser-sync', 'ngrok', 'uvicorn', 'gunicorn', 'hypercorn', 'daphne', 'redis-server', 'mongod', 'ts-node-dev'] },
  { names: ['streamlit', 'caddy', 'mlflow', 'tensorboard'], words: /^(?:run|server|ui|--logdir.*)$/ },
  { names: ['jupyter'], words: /^(?:lab|notebook|server)$/ },
  { names: ['ollama'], words: /^serve$/ },
  { names: ['next', 'nuxt', 'astro', 'gatsby', 'remix', 'ng', 'vue-cli-service', 'svelte-kit', 'react-scripts', 'expo', 'storybook', 'hugo', 'jekyll', 'mkdocs', 'eleventy', 'docusaurus', 'parcel', 'webpack', 'webpack-dev-server', 'rollup', 'esbuild', 'tsc', 'tailwindcss', 'sass'], words: /^(?:dev|serve|server|start|develop|--watch|-w|--serve.*|--server)$/ },
  { names: ['flask', 'rails', 'django-admin', 'php', 'artisan', 'symfony', 'mix', 'cargo', 'go', 'air', 'dotnet', 'gradle', 'mvn', 'bundle'], words: /^(?:runserver|s|server|-S|serve|server:start|phx\.server|watch|spring-boot:run|bootRun|jekyll)$/ },
  { names: ['flask'], words: /^run$/ },
  { names: ['python', 'python3'], words: /^(?:http\.server|runserver|uvicorn|gunicorn|SimpleHTTPServer|streamlit)$/ },
  { names: ['deno', 'node'], words: /^--watch$/ },
  { names: ['docker', 'docker-compose', 'podman'], words: /^up$/, unless: /^(?:-d|--detach|-.*d)$/ },
  { names: ['kubectl'], words: /^(?:port-forward|proxy)$/ },
  { names: ['kubectl', 'docker', 'journalctl', 'podman', 'docker-compose'], words: /^(?:-f|--follow|-[a-z]*f)$/, unless: /^(?:build|apply|delete|create|rm|-f=.*|run|up|down|exec|compose|ps|config|replace)$/ },
  { names: ['tail'], words: /^(?:-f|-F|--follow.*|-[a-z0-9]*[fF]|--retry)$/ },
  { names: ['watch', 'top', 'htop', 'btop', 'iotop', 'vmstat', 'iostat', 'tcpdump', 'inotifywait', 'fswatch', 'entr', 'yes', 'cloudflared'], unless: /^(?:-b|-bn\d+|-n\d*|-c\d*|\d+|-t|--once|-1|-g)$/ },
  { names: ['sleep'], words: /^(?:infinity|inf|\d+d|\d{1,9}h|\d{5,})$/ },
  { names: ['ssh'], words: /^-[a-zA-Z]*N/ },
];

/** Programs that wait for somebody at the keyboard. */
const interactive: readonly string[] = ['vim', 'vi', 'nvim', 'nano', 'emacs', 'pico', 'less', 'more', 'most', 'mc', 'ranger', 'tmux', 'screen', 'lazygit', 'tig', 'nmtui', 'ncdu'];

const asksForHelp = (call: ShellCall): boolean => call.args.some((field) => /^(?:--help|--version|-h|-V|help|version)$/.test(field.text));

const fits = ({ names, words, unless }: LongLived, call: ShellCall): boolean =>
  names.includes(call.name) && (words === undefined || call.args.some((field) => words.test(field.text))) && !(unless !== undefined && call.args.some((field) => unless.test(field.text)));

/** A reader of a pipe ends with it, so what writes into `head` does too. */
const isCutShort = (call: ShellCall, calls: readonly ShellCall[]): boolean => call.name === 'yes' && calls.some((other) => other.input.type === 'pipe' && other.input.from.includes(call));

const hint = 'Run it with background=true (and notify_on_complete=true to hear of its end), then use the process tool';

/** Why a command does not belong into the foreground, or undefined. It goes by what the command runs, not by its text. */
export const longLivedReason = (calls: readonly ShellCall[]): string | undefined => {
  const shown = calls.filter((call) => !asksForHelp(call));
  const detached = shown.find((call) => ['nohup', 'setsid', 'disown', 'daemonize', 'bg'].includes(call.name));
  if (calls.some((call) => call.background)) return `It starts something in the background with \`&\`. ${hint}; leave the \`&\` away.`;
  if (detached !== undefined) return `\`${detached.name}\` leaves something running behind. ${hint}; leave \`${detached.name}\` away.`;
  const server = shown.find((call) => servers.some((each) => fits(each, call)) && !call.wrappers.includes('timeout') && !isCutShort(call, calls));
  if (server !== undefined) return `\`${server.name}\` does not end by itself. ${hint}.`;
  const screen = shown.find((call) => interactive.includes(call.name) && call.input.type === 'inherited' && !call.wrappers.includes('script'));
  return screen === undefined ? undefined : `\`${screen.name}\` waits for somebody at the keyboard. Use a program that does not, or run it with background=true and pty=true and write to it with the process tool.`;
};
