import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ChatsAnswer } from '../../src/platforms/web/wire.ts';

export type Command = ChatsAnswer['commands'][number];

const mostShown = 50;

/** Commands that begin like what is being typed; none when it is no command, or one typed out. */
export const matchCommands = (commands: readonly Command[], text: string): readonly Command[] => {
  const typed = /^\/([\w-]*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  const found = commands.filter((command) => command.name.startsWith(typed));
  return found.length === 1 && found[0]?.name === typed ? [] : found.slice(0, mostShown);
};

interface Props {
  readonly commands: readonly Command[];
  readonly selected: number;
  readonly onPick: (command: Command) => void;
}

export const CommandMenu = ({ commands, selected, onPick }: Props): VNode | null => {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[selected]?.scrollIntoView({ block: 'nearest' }), [commands, selected]);
  return commands.length === 0 ? null : (
    <ul class="commands" id="commands" role="listbox" aria-label="Commands" ref={list}>
      {commands.map((command, index) => (
        <li key={command.name} id={`command-${index}`} role="option" aria-selected={index === selected} onMouseDown={(event) => (event.preventDefault(), onPick(command))}>
          <b>/{command.name}</b> <span>{command.description}</span>
        </li>
      ))}
    </ul>
  );
};
