import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { copyText } from './clipboard.ts';
import { highlight } from './highlight.ts';
import { Check, Copy } from './icons.tsx';

const shownMs = 1_500;

/** Copies and says so for a moment. */
export const CopyButton = ({ text, label }: { readonly text: string; readonly label: string }): VNode => {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    if (!(await copyText(text))) return;
    setDone(true);
    setTimeout(() => setDone(false), shownMs);
  };
  return (
    <button type="button" class="quiet" aria-label={done ? 'Copied' : label} title={done ? 'Copied' : label} onClick={() => void copy()}>
      {done ? <Check /> : <Copy />}
    </button>
  );
};

export const CodeBlock = ({ code, language }: { readonly code: string; readonly language: string }): VNode => {
  const tokens = useMemo(() => highlight(code, language), [code, language]);
  return (
    <figure class="code">
      <figcaption>
        <span>{language === '' ? 'text' : language}</span>
        <CopyButton text={code} label="Copy code" />
      </figcaption>
      <pre tabIndex={0}>
        <code>{tokens.map((token, index) => (token.kind === 'text' ? token.text : <span key={index} class={`tok-${token.kind}`}>{token.text}</span>))}</code>
      </pre>
    </figure>
  );
};
