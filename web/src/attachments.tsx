import type { VNode } from 'preact';
import type { WireFile } from '../../src/platforms/web/wire.ts';
import { filePath } from './api.ts';
import { sizeOf } from './format.ts';
import { File as FileIcon } from './icons.tsx';

const Picture = ({ file }: { readonly file: WireFile }): VNode => (
  <a class="picture" href={filePath(file.id)} target="_blank" rel="noopener" title={file.name}>
    <img src={filePath(file.id)} alt={file.name} loading="lazy" decoding="async" />
  </a>
);

const Chip = ({ file }: { readonly file: WireFile }): VNode => (
  <a class="chip" href={filePath(file.id)} download={file.name}>
    <FileIcon />
    <span class="chip-name">{file.name}</span>
    <span class="chip-size">{sizeOf(file.sizeBytes)}</span>
  </a>
);

const Attachment = ({ file }: { readonly file: WireFile }): VNode => {
  switch (file.kind) {
    case 'photo':
      return <Picture file={file} />;
    case 'audio':
    case 'voice':
      return (
        <div class="sound">
          <audio controls preload="none" src={filePath(file.id)} />
          <Chip file={file} />
        </div>
      );
    case 'video':
    case 'animation':
      return <video class="film" controls preload="metadata" src={filePath(file.id)} />;
    case 'document':
    case 'sticker':
      return <Chip file={file} />;
    default:
      return file.kind satisfies never;
  }
};

export const Attachments = ({ files }: { readonly files: readonly WireFile[] }): VNode | null =>
  files.length === 0 ? null : (
    <div class="attachments">
      {files.map((file) => (
        <Attachment key={file.id} file={file} />
      ))}
    </div>
  );
