/** A host as a setting names it: `wiki.lan`, `*.lan`, `10.0.0.7:8080`, `[::1]:3000`. */
interface HostRule {
  readonly host: string;
  /** The host itself and everything below it. */
  readonly below: boolean;
  readonly port: string | undefined;
}

export interface Host {
  /** Lower case, without brackets and without a dot at its end. */
  readonly name: string;
  readonly port: string;
}

const plainHost = (hostname: string): string => hostname.toLowerCase().replace(/^\[|\]$/g, '').replace(/\.+$/, '');

export const hostOf = (url: URL): Host => ({ name: plainHost(url.hostname), port: url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port });

/** Nothing when the text names no host. */
export const parseHostRule = (text: string): HostRule | undefined => {
  const below = text.startsWith('*.');
  const bare = (below ? text.slice(2) : text).trim();
  const url = URL.parse(`http://${/^[0-9a-f:]+:[0-9a-f:]*$/i.test(bare) && bare.split(':').length > 2 ? `[${bare}]` : bare}/`);
  if (url === null || url.hostname === '' || url.pathname !== '/' || url.username !== '' || url.search !== '' || url.hash !== '') return undefined;
  const port = /:(\d+)$/.exec(bare.replace(/^\[.*\]/, ''))?.[1];
  return { host: plainHost(url.hostname), below, port: bare.includes('[') || bare.split(':').length === 2 ? port : undefined };
};

const fits = ({ name, port }: Host, rule: HostRule, withBelow: boolean): boolean =>
  (rule.port === undefined || rule.port === port) && (name === rule.host || ((rule.below || withBelow) && name.endsWith(`.${rule.host}`)));

const rulesOf = (texts: readonly string[]): readonly HostRule[] => texts.map(parseHostRule).filter((rule) => rule !== undefined);

/** Whether the owner closed a host; what is below a closed host is closed too. */
export const isBlocked = (host: Host, blocked: readonly string[]): boolean => rulesOf(blocked).some((rule) => fits(host, rule, true));

/** Whether the owner opened a host of the private network. */
export const isOpened = (host: Host, opened: readonly string[]): boolean => rulesOf(opened).some((rule) => fits(host, rule, false));
