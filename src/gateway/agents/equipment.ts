import type { Agent } from '../../agent/contract.ts';
import type { Tool, ToolSet } from '../../agent/tools/contract.ts';
import { toolSet } from '../../agent/tools/tool-set.ts';
import { groupTools, selectGroups } from '../../agent/tools/toolsets.ts';
import type { ToolGroup } from '../../agent/tools/toolsets.ts';
import type { GatewaySettings } from '../settings.ts';

/** What an agent has at one place. */
export interface Equipment {
  readonly groups: readonly ToolGroup[];
  readonly tools: ToolSet;
  readonly agent: Agent;
  /** Of the tool definitions. */
  readonly toolBytes: number;
}

/** What equipment is made of. */
export interface Stock {
  /** Of the agent's model and settings; another one is another stock, whatever else is the same. */
  readonly generation: object;
  readonly settings: GatewaySettings;
  /** The agent's own. */
  readonly tools: readonly Tool[];
  readonly web: readonly Tool[];
  readonly mcp: readonly ToolGroup[];
}

export interface EquipmentDeps {
  /** The agent's id. */
  readonly id: string;
  stock(): Stock;
  agentWith(tools: ToolSet): Agent;
}

/** Everything that could be selected. */
export const groupsInStock = ({ tools, web, mcp }: Stock): readonly ToolGroup[] => [...groupTools([...tools, ...web]), ...mcp];

/** What an agent has, made once per account, and anew when its stock has changed. */
export class AgentEquipment {
  readonly #deps: EquipmentDeps;
  readonly #made = new Map<string, Equipment>();
  #from: Stock | undefined;

  constructor(deps: EquipmentDeps) {
    this.#deps = deps;
  }

  /** With `only` these toolsets alone. */
  at(account: string, only?: readonly string[]): Equipment {
    const stock = this.#deps.stock();
    if (!isSame(stock, this.#from)) this.#made.clear();
    this.#from = stock;
    const key = only === undefined ? account : `${account} ${only.join(' ')}`;
    const found = this.#made.get(key) ?? this.#make(stock, account, only);
    this.#made.set(key, found);
    return found;
  }

  #make(stock: Stock, account: string, only: readonly string[] | undefined): Equipment {
    const groups = selectGroups(groupsInStock(stock), stock.settings.tools, { account, agent: this.#deps.id, only });
    const tools = toolSet(groups.flatMap((group) => group.tools));
    return { groups, tools, agent: this.#deps.agentWith(tools), toolBytes: Buffer.byteLength(JSON.stringify(tools.definitions)) };
  }
}

const isSame = (one: Stock, other: Stock | undefined): boolean => one.generation === other?.generation && one.tools === other.tools && one.mcp === other.mcp;
