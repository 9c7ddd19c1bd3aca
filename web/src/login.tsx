import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, logIn } from './api.ts';
import { Wing } from './icons.tsx';

interface Props {
  readonly takesToken: boolean;
  /** Why a login link did not work. */
  readonly problem: string | undefined;
  readonly onDone: () => void;
}

export const Login = ({ takesToken, problem, onDone }: Props): VNode => {
  const [token, setToken] = useState('');
  const [failed, setFailed] = useState<string | undefined>();
  const submit = async (): Promise<void> => {
    try {
      await logIn(token.trim());
      onDone();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setFailed(error.status === 401 ? 'This token is wrong.' : error.message);
    }
  };
  return (
    <main class="login">
      <span class="mark">
        <Wing />
      </span>
      <h1>Log in</h1>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p>
        Open the login link that the gateway printed when it started. For a new one, run <code>hermes login</code> where the gateway runs.
      </p>
      {takesToken && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
        >
          <label for="token">Or the token from your configuration</label>
          <input id="token" type="password" autocomplete="current-password" value={token} onInput={(event) => setToken(event.currentTarget.value)} />
          <button type="submit" disabled={token.trim() === ''}>
            Log in
          </button>
          {failed !== undefined && (
            <p class="problem" role="alert">
              {failed}
            </p>
          )}
        </form>
      )}
    </main>
  );
};
