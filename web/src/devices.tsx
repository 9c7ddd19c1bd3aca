import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { DeviceChecksAnswer } from '../../src/http/people-wire.ts';
import { answerDeviceCheck, ApiError, getDeviceChecks } from './api.ts';

const refreshMs = 2000;

type Check = DeviceChecksAnswer['checks'][number];

const words: Readonly<Record<Check['state'], string>> = {
  waiting: 'waiting for the other side',
  compare: 'does the other device show the same?',
  confirmed: 'waiting for the other side to confirm',
  done: 'verified',
  cancelled: 'not verified',
};

const Device = ({ check, answer }: { readonly check: Check; readonly answer: (same: boolean) => void }): VNode => (
  <li>
    <span>
      {check.userId} <small>{`${check.account}, ${words[check.state]}${check.reason === undefined ? '' : `: ${check.reason}`}`}</small>
      {check.state === 'compare' && <span class="emoji">{check.emoji.map(({ symbol, name }) => `${symbol} ${name}`).join('  ')}</span>}
    </span>
    {check.state === 'compare' && (
      <>
        <button type="button" class="primary" onClick={() => answer(true)}>
          They match
        </button>
        <button type="button" class="quiet" onClick={() => answer(false)}>
          They differ
        </button>
      </>
    )}
  </li>
);

/** Devices of people that are being verified by emoji; nothing as long as there are none. */
export const Devices = (): VNode | null => {
  const [checks, setChecks] = useState<DeviceChecksAnswer['checks']>([]);
  const [problem, setProblem] = useState('');
  const change = async (work: () => Promise<DeviceChecksAnswer>): Promise<void> => {
    try {
      setChecks((await work()).checks);
      setProblem('');
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.message);
    }
  };
  useEffect(() => {
    void change(getDeviceChecks);
    const timer = setInterval(() => void change(getDeviceChecks), refreshMs);
    return () => clearInterval(timer);
  }, []);
  if (checks.length === 0 && problem === '') return null;
  return (
    <>
      <h3>Devices</h3>
      {problem !== '' && <p role="alert">{problem}</p>}
      <ul>
        {checks.map((check) => (
          <Device key={check.id} check={check} answer={(same) => void change(() => answerDeviceCheck(check.account, check.id, same))} />
        ))}
      </ul>
    </>
  );
};
