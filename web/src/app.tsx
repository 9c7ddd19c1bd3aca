import type { VNode } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, getSession, logIn } from './api.ts';
import { ChatPage } from './chat-page.tsx';
import { Login } from './login.tsx';
import { openSession } from './session.ts';
import type { Session } from './session.ts';

type Stage =
  | { readonly at: 'starting'; readonly away: boolean }
  | { readonly at: 'login'; readonly takesToken: boolean; readonly problem?: string | undefined }
  | { readonly at: 'chat'; readonly session: Session };

const retryMs = 2_000;

/** Uses the token of a login link and takes it out of the address, whatever comes of it. */
const redeemLink = async (): Promise<string | undefined> => {
  if (location.pathname !== '/login') return undefined;
  const token = location.hash.slice(1);
  history.replaceState(null, '', '/');
  if (token === '') return undefined;
  try {
    await logIn(token);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.status !== 0) return error.message;
    history.replaceState(null, '', `/login#${token}`);
    throw error;
  }
};

const firstStage = async (onLoggedOut: () => void): Promise<Stage> => {
  try {
    const problem = await redeemLink();
    const { loggedIn, takesToken } = await getSession();
    return loggedIn ? { at: 'chat', session: await openSession(onLoggedOut) } : { at: 'login', takesToken, problem };
  } catch (error) {
    if (error instanceof ApiError) return { at: 'starting', away: true };
    throw error;
  }
};

export const App = (): VNode | null => {
  const [stage, setStage] = useState<Stage>({ at: 'starting', away: false });
  const session = useRef<Session | undefined>(undefined);
  const starting = useRef<Promise<void> | undefined>(undefined);

  const start = useCallback((): void => {
    session.current?.close();
    session.current = undefined;
    starting.current ??= firstStage(start).then((next) => {
      starting.current = undefined;
      if (next.at === 'chat') session.current = next.session;
      if (next.at === 'starting') setTimeout(start, retryMs);
      setStage(next);
    });
  }, []);

  useEffect(() => {
    start();
    return () => session.current?.close();
  }, [start]);

  switch (stage.at) {
    case 'starting':
      return stage.away ? <p class="away">The gateway cannot be reached. Trying again…</p> : null;
    case 'login':
      return <Login takesToken={stage.takesToken} problem={stage.problem} onDone={start} />;
    case 'chat':
      return <ChatPage session={stage.session} onLeave={start} />;
    default:
      return stage satisfies never;
  }
};
