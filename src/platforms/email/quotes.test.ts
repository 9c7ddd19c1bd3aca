import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownWords } from './quotes.ts';

describe('the words of a mail', () => {
  it('end where the earlier mail begins, as each client writes it', () => {
    const histories = [
      'On Mon, 1 Jan 2026 at 10:00, Hermes <h@x.org> wrote:\n> old\n> older',
      'On Mon, 1 Jan 2026 at 10:00, Hermes with a very long name\n<h@x.org> wrote:\n\n> old',
      'Am 01.01.2026 um 10:00 schrieb Hermes:\n> alt',
      'Le lun. 1 janv. 2026 à 10:00, Hermes <h@x.org> a écrit :\n> vieux',
      '-----Original Message-----\nFrom: Hermes\nold',
      'From: Hermes <h@x.org>\nSent: Monday, January 1\nTo: Bob\nSubject: The plan\n\nold',
      'Von: Hermes <h@x.org>\nGesendet: Montag\nAn: Bob\nBetreff: Der Plan\n\nalt',
      '________________________________\nFrom: Hermes\nold',
      'On Monday, January 1, 2026, 10:00, Hermes <h@x.org> wrote:\n\nold words without marks',
      '> old\n> older',
    ];
    for (const history of histories) assert.equal(ownWords(`Yes.\n\nBob\n\n${history}\n`), 'Yes.\n\nBob', history);
  });

  it('stay whole where somebody answers between the quoted lines', () => {
    const text = 'Hi,\n\nOn Monday Hermes wrote:\n> One?\nyes\n> Two?\nno';
    assert.equal(ownWords(text), text);
  });

  it('stay whole where there is nothing else', () => {
    assert.equal(ownWords('> just a quote\n'), '> just a quote');
    assert.equal(ownWords('\n\n'), '');
  });

  it('lose a signature and what a phone adds', () => {
    assert.equal(ownWords('Yes.\n\n-- \nBob\nExample Ltd'), 'Yes.');
    assert.equal(ownWords('Yes.\n\nSent from my iPhone'), 'Yes.');
    assert.equal(ownWords('Yes.\n\nVon meinem iPhone gesendet\n\nAm 1. Januar schrieb Hermes:\n> alt'), 'Yes.');
  });

  it('keep what only looks like a mark', () => {
    for (const text of ['He wrote: hello', 'From: here to there', 'a\n--\n' + 'line\n'.repeat(20).trim(), 'On the other hand, it works.', 'x > y', 'My boss wrote:\n\nDear Bob, no.\n\nWhat now?', 'Find a train.\nFrom: Berlin\nTo: Rome\nDate: Friday', `Sign here:\n${'_'.repeat(30)}\nBob`]) assert.equal(ownWords(text), text);
  });

  it('are found in linear time, whatever the mail is', () => {
    const mails = [`on ${'a '.repeat(100_000)}`, '> \n'.repeat(50_000), 'Hi\nOn x wrote:\n'.repeat(20_000), 'Hi\nFrom: a\n'.repeat(20_000)];
    for (const text of mails) assert.notEqual(ownWords(text), '');
  });
});
