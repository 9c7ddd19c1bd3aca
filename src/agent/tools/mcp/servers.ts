import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { Tool } from '../contract.ts';
import type { ToolGroup } from '../toolsets.ts';
import { reasonText } from './failure.ts';
import type { McpServerOptions } from './options.ts';
import { rememberedOffers } from './remembered-offers.ts';
import type { KeepFile } from './render-result.ts';
import { McpServer } from './server.ts';
import type { ServerStatus } from './server.ts';
import { serverTools } from './server-tools.ts';
import { toolNames } from './tool-names.ts';

export interface McpDeps {
  readonly home: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  redact(text: string): string;
  /** What a child process may know of our environment. */
  environment(): Readonly<Record<string, string>>;
  /** Where images and other files of results go; without it they are only described. */
  readonly keepFile?: KeepFile;
  readonly random?: () => number;
}

export interface McpServerReport {
  readonly name: string;
  readonly status: ServerStatus;
  readonly tools: number;
}

interface Running {
  readonly server: McpServer;
  readonly options: McpServerOptions;
}

const describeOnly: KeepFile = () => Promise.resolve(undefined);

/** All configured MCP servers. Nothing here waits for a server but a call of one of its tools. */
export class McpServers {
  readonly #deps: McpDeps;
  readonly #running = new Map<string, Running>();
  #work: Promise<void> = Promise.resolve();
  #groups: readonly ToolGroup[] | undefined;

  constructor(deps: McpDeps) {
    this.#deps = deps;
  }

  /** Starts, restarts and stops servers so that these are running. Resolves when they have been started, not when they are connected. */
  configure(wanted: Readonly<Record<string, McpServerOptions>>): Promise<void> {
    const applying = this.#work.then(() => this.#apply(wanted));
    const over = (): void => undefined;
    // Whoever asked hears of a failure; what comes next is tried all the same.
    this.#work = applying.then(over, over);
    return applying;
  }

  /** The tools that there are now, by toolset, always in the same order. A tool that is held longer goes on working as long as its server has it. */
  groups(): readonly ToolGroup[] {
    this.#groups ??= this.#build();
    return this.#groups;
  }

  report(): readonly McpServerReport[] {
    return [...this.#running.values()].map(({ server }) => ({ name: server.name, status: server.status, tools: server.offers.tools.length })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Connects every server anew, now. */
  reconnect(): void {
    for (const { server } of this.#running.values()) server.reconnect();
  }

  async close(): Promise<void> {
    await this.configure({});
  }

  async #apply(wanted: Readonly<Record<string, McpServerOptions>>): Promise<void> {
    const enabled = new Map(Object.entries(wanted).filter(([, options]) => options.enabled));
    const over = [...this.#running].filter(([name, { options }]) => JSON.stringify(enabled.get(name)) !== JSON.stringify(options));
    for (const [name] of over) this.#running.delete(name);
    await Promise.all(over.map(([, { server }]) => server.stop()));
    for (const [name, options] of enabled) if (!this.#running.has(name)) this.#running.set(name, { options, server: await this.#start(name, options) });
    this.#groups = undefined;
  }

  async #start(name: string, options: McpServerOptions): Promise<McpServer> {
    const { log, redact } = this.#deps;
    const memory = rememberedOffers(this.#deps.home, name, options);
    const complain = (error: unknown): void => log.warn({ server: name, reason: reasonText(error, redact) }, 'mcp.not_remembered');
    return new McpServer({
      ...this.#deps,
      name,
      options,
      remembered: await memory.read(),
      changed: (offers) => {
        this.#groups = undefined;
        this.#work = this.#work.then(() => memory.write(offers)).catch(complain);
      },
    });
  }

  #build(): readonly ToolGroup[] {
    const keep = this.#deps.keepFile ?? describeOnly;
    const named = toolNames([...this.#running.values()].flatMap((running) => serverTools({ ...running, keep })));
    const groups = new Map<string, Tool[]>();
    for (const { name, of } of named) groups.set(of.server, [...(groups.get(of.server) ?? []), of.as(name)]);
    return [...groups].map(([server, tools]) => ({ toolset: `mcp-${server}`, tools }));
  }
}
