import type { VNode } from 'preact';
import type { WireFile } from '../../src/platforms/web/wire.ts';
import { filePath } from './api.ts';
import { sizeOf } from './format.ts';
import { Close, File as FileIcon } from './icons.tsx';
import type { Session } from './session.ts';
import { useStore } from './store.ts';

const RemoveButton = ({ name, onClick }: { readonly name: string; readonly onClick: () => void }): VNode => (
  <button type="button" class="quiet" aria-label={`Remove ${name}`} title="Remove" onClick={onClick}>
    <Close />
  </button>
);

interface Props {
  readonly session: Session;
  readonly chat: string;
  readonly files: readonly WireFile[];
}

/** Files that will go with the next message, and those still on their way up. */
export const DraftFiles = ({ session, chat, files }: Props): VNode | null => {
  const all = useStore(session.uploads.items, (items) => items);
  const uploads = all.filter((upload) => upload.chat === chat);
  if (files.length + uploads.length === 0) return null;
  const remove = (file: WireFile): void => session.drafts.change(chat, { files: files.filter((one) => one.id !== file.id) });
  return (
    <div class="draft-files">
      {files.map((file) => (
        <div key={file.id} class="chip">
          {file.kind === 'photo' ? <img src={filePath(file.id)} alt="" /> : <FileIcon />}
          <span class="chip-name">{file.name}</span>
          <span class="chip-size">{sizeOf(file.sizeBytes)}</span>
          <RemoveButton name={file.name} onClick={() => remove(file)} />
        </div>
      ))}
      {uploads.map((upload) => (
        <div key={upload.id} class="chip">
          <FileIcon />
          <span class="chip-name">{upload.name}</span>
          <progress value={upload.part} aria-label={`Sending ${upload.name}`} />
          <RemoveButton name={upload.name} onClick={upload.cancel} />
        </div>
      ))}
    </div>
  );
};
