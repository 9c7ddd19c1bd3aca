import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { markdownWords } from '../../src/lib/markdown/words.ts';
import { CommandMenu, matchCommands } from './command-menu.tsx';
import type { Command } from './command-menu.tsx';
import { useTyping } from './conversation.tsx';
import { DraftFiles } from './draft-files.tsx';
import { emptyDraft } from './drafts.ts';
import { Clip, Close, Send, Stop } from './icons.tsx';
import type { Session } from './session.ts';
import { useStore } from './store.ts';

interface Props {
  readonly session: Session;
  readonly chat: string;
}

export const composerId = 'composer';

export const focusComposer = (): void => document.getElementById(composerId)?.focus();

export const sendStop = (session: Session, chat: string): void => session.outbox.send({ chat, text: '/stop', files: [] });

/** Whether the agent is at work in the chat. */
export const useBusy = (session: Session, chat: string): boolean => {
  const growing = useStore(session.state, (state) => Object.values(state.previews).some((preview) => preview.chat === chat));
  return useTyping(session, chat) || growing;
};

const Replying = ({ session, chat, replyTo }: Props & { readonly replyTo: string }): VNode => {
  const quoted = useStore(session.state, (state) => state.open[chat]?.messages.find((message) => message.id === replyTo));
  return (
    <div class="replying">
      <span>Replying to {quoted === undefined ? 'a message' : `“${markdownWords(quoted.text).slice(0, 80)}”`}</span>
      <button type="button" class="quiet" aria-label="Do not reply" onClick={() => session.drafts.change(chat, { replyTo: undefined })}>
        <Close />
      </button>
    </div>
  );
};

/** The list of commands under a slash, and what the keys do in it. */
const useCommands = ({ session, chat }: Props, text: string) => {
  const all = useStore(session.state, (state) => state.commands);
  const commands = useMemo(() => matchCommands(all, text), [all, text]);
  const [selection, setSelection] = useState({ text, index: 0 });
  const index = selection.text === text ? selection.index : 0;
  const pick = (command: Command): void => session.drafts.change(chat, { text: `/${command.name} ` });
  const onKey = (event: KeyboardEvent): boolean => {
    const command = commands[index];
    if (command === undefined) return false;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') setSelection({ text, index: (index + (event.key === 'ArrowDown' ? 1 : commands.length - 1)) % commands.length });
    else if (event.key === 'Tab' || event.key === 'Enter') pick(command);
    else return false;
    event.preventDefault();
    return true;
  };
  return { commands, index, pick, onKey };
};

const AttachButton = ({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }): VNode => {
  const picker = useRef<HTMLInputElement>(null);
  const onChange = (event: { readonly currentTarget: HTMLInputElement }): void => {
    onFiles([...(event.currentTarget.files ?? [])]);
    event.currentTarget.value = '';
  };
  return (
    <>
      <button type="button" class="round" aria-label="Attach files" title="Attach files" onClick={() => picker.current?.click()}>
        <Clip />
      </button>
      <input ref={picker} type="file" multiple hidden onChange={onChange} />
    </>
  );
};

/** As high as its text, up to what the style allows. */
const useAutoGrow = (text: string) => {
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const element = area.current;
    if (element === null) return;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);
  return area;
};

const SendButton = ({ disabled }: { readonly disabled: boolean }): VNode => (
  <button type="submit" class="round primary" aria-label="Send" title="Send (Enter)" disabled={disabled}>
    <Send />
  </button>
);

const StopButton = ({ onClick }: { readonly onClick: () => void }): VNode => (
  <button type="button" class="round primary" aria-label="Stop" title="Stop (Esc)" onClick={onClick}>
    <Stop />
  </button>
);

const Hint = (): VNode => (
  <p class="hint">
    <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> starts a line, <kbd>/</kbd> shows commands, <kbd>Esc</kbd> stops an answer
  </p>
);

export const Composer = ({ session, chat }: Props): VNode => {
  const draft = useStore(session.drafts.items, (drafts) => drafts[chat] ?? emptyDraft);
  const uploading = useStore(session.uploads.items, (uploads) => uploads.filter((upload) => upload.chat === chat).length);
  const busy = useBusy(session, chat);
  const area = useAutoGrow(draft.text);
  const menu = useCommands({ session, chat }, draft.text);
  const empty = draft.text.trim() === '' && draft.files.length === 0;
  useEffect(() => {
    if (matchMedia('(pointer: fine)').matches) focusComposer();
  }, [chat, draft.replyTo]);

  /** How many files the message has that goes as soon as they are there. */
  const [awaited, setAwaited] = useState<number>();

  const sendNow = (): void => {
    if (empty) return;
    session.outbox.send({ chat, text: draft.text.trim(), files: draft.files, replyTo: draft.replyTo });
    session.drafts.clear(chat);
  };
  const send = (event: Event): void => {
    event.preventDefault();
    if (uploading > 0) setAwaited(draft.files.length + uploading);
    else sendNow();
  };
  useEffect(() => setAwaited(undefined), [chat]);
  useEffect(() => {
    if (awaited === undefined || uploading > 0) return;
    setAwaited(undefined);
    // A file that failed is reported, and the message stays for the person to decide.
    if (draft.files.length >= awaited) sendNow();
  }, [awaited, uploading]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || menu.onKey(event)) return;
    if (event.key === 'Enter' && !event.shiftKey) send(event);
  };
  const onPaste = (event: ClipboardEvent): void => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    session.uploads.add(chat, files);
  };
  const active = menu.commands.length > 0 ? { 'aria-controls': 'commands', 'aria-activedescendant': `command-${menu.index}` } : {};
  return (
    <form class="composer" onSubmit={send}>
      <CommandMenu commands={menu.commands} selected={menu.index} onPick={menu.pick} />
      {draft.replyTo !== undefined && <Replying session={session} chat={chat} replyTo={draft.replyTo} />}
      <DraftFiles session={session} chat={chat} files={draft.files} />
      <div class="entry">
        <AttachButton onFiles={(files) => session.uploads.add(chat, files)} />
        <textarea
          ref={area}
          id={composerId}
          rows={1}
          value={draft.text}
          placeholder="Write a message"
          aria-label="Message"
          {...active}
          enterkeyhint="send"
          onInput={(event) => session.drafts.change(chat, { text: event.currentTarget.value })}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        {busy && empty ? <StopButton onClick={() => sendStop(session, chat)} /> : <SendButton disabled={(empty && uploading === 0) || awaited !== undefined} />}
      </div>
      <Hint />
    </form>
  );
};
