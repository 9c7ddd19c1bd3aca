import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { InviteAnswer, PeopleAnswer } from '../../src/http/people-wire.ts';
import { ApiError, approvePerson, dismissPerson, getPeople, invitePerson, revokePerson } from './api.ts';
import { Devices } from './devices.tsx';
import { Close } from './icons.tsx';

const refreshMs = 10_000;

const nameOf = ({ userName, userId }: { readonly userName: string | null; readonly userId: string }): string => (userName === null || userName === '' ? userId : `${userName} (${userId})`);

const minutesAgo = (ms: number): string => (ms < 60_000 ? 'just now' : `${Math.round(ms / 60_000)} min ago`);

const Invitation = ({ invite }: { readonly invite: InviteAnswer }): VNode => (
  <p class="invitation">
    Give this code to the person. They send it to the bot within {Math.round(invite.lifeMs / 60_000)} minutes; it works once: <code>{invite.code}</code>
  </p>
);

type Change = (work: () => Promise<PeopleAnswer>) => void;

const Lists = ({ people, change }: { readonly people: PeopleAnswer; readonly change: Change }): VNode => (
  <>
    <h3>Asking to be let in</h3>
    {people.pending.length === 0 && <p class="none">Nobody is asking. Strangers who write to the bot appear here.</p>}
    <ul>
      {people.pending.map((one) => (
        <li key={one.id}>
          <span>
            {nameOf(one)} <small>{`${one.account}, ${minutesAgo(one.ageMs)}`}</small>
          </span>
          <button type="button" class="primary" onClick={() => change(() => approvePerson(one.id))}>
            Let in
          </button>
          <button type="button" class="quiet" onClick={() => change(() => dismissPerson(one.id))}>
            Dismiss
          </button>
        </li>
      ))}
    </ul>
    <h3>Let in by a code</h3>
    {people.paired.length === 0 && <p class="none">Nobody yet. People named in the configuration are not listed here.</p>}
    <ul>
      {people.paired.map((one) => (
        <li key={`${one.account} ${one.userId}`}>
          <span>
            {nameOf(one)} <small>{`${one.account}, since ${new Date(one.approvedAtMs).toLocaleDateString()}`}</small>
          </span>
          <button type="button" class="quiet" onClick={() => change(() => revokePerson(one.account, one.userId))}>
            Put out
          </button>
        </li>
      ))}
    </ul>
  </>
);

/** Who may talk to the agent: requests to decide about, people to put out again, and invitations. */
export const PeopleDialog = ({ onClose }: { readonly onClose: () => void }): VNode => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [people, setPeople] = useState<PeopleAnswer>();
  const [invite, setInvite] = useState<InviteAnswer>();
  const [problem, setProblem] = useState('');
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      setProblem('');
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.message);
    }
  };
  const change: Change = (work) => void attempt(async () => setPeople(await work()));
  useEffect(() => {
    dialog.current?.showModal();
    change(getPeople);
    const timer = setInterval(() => change(getPeople), refreshMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <dialog ref={dialog} class="people" aria-label="People" onClose={onClose}>
      <header>
        <h2>People</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={() => dialog.current?.close()}>
          <Close />
        </button>
      </header>
      {problem !== '' && <p role="alert">{problem}</p>}
      {people !== undefined && <Lists people={people} change={change} />}
      <Devices />
      {invite !== undefined && <Invitation invite={invite} />}
      <button type="button" class="link" onClick={() => void attempt(async () => setInvite(await invitePerson()))}>
        Invite somebody
      </button>
    </dialog>
  );
};
