import type { RefObject } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

const nearPx = 80;

interface Pinned {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  readonly atEnd: boolean;
  readonly toEnd: () => void;
}

/**
 * Keeps the end in view while text grows, unless the person has scrolled away; and keeps what they read in place when
 * older messages are put above it. `view` names what is shown, `first` its topmost message; without one nothing is held.
 */
export const usePinnedScroll = (view: string, first: string | undefined): Pinned => {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const pinned = useRef(true);
  const holds = useRef(false);
  holds.current = first !== undefined;
  const known = useRef({ first, height: 0 });
  const [atEnd, setAtEnd] = useState(true);

  const toEnd = useCallback(() => {
    pinned.current = true;
    setAtEnd(true);
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, []);

  useLayoutEffect(toEnd, [view, toEnd]);

  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    if (pinned.current && holds.current) box.scrollTop = box.scrollHeight;
    else if (known.current.first !== first) box.scrollTop += box.scrollHeight - known.current.height;
    known.current = { first, height: box.scrollHeight };
  });

  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (box === null || inner === null) return undefined;
    const onScroll = (): void => {
      pinned.current = box.scrollHeight - box.scrollTop - box.clientHeight < nearPx;
      setAtEnd(pinned.current || !holds.current);
    };
    const observer = new ResizeObserver(() => {
      if (pinned.current && holds.current) box.scrollTop = box.scrollHeight;
      known.current = { ...known.current, height: box.scrollHeight };
    });
    box.addEventListener('scroll', onScroll, { passive: true });
    observer.observe(inner);
    observer.observe(box);
    return () => {
      box.removeEventListener('scroll', onScroll);
      observer.disconnect();
    };
  }, []);

  return { scroller, content, atEnd, toEnd };
};
