import { commentPlace, isNowhere, namedIn } from './options.ts';
import type { Route } from './options.ts';
import { renderTemplate } from './template.ts';
import type { TemplateFacts } from './template.ts';

/** An issue or a pull request; GitHub numbers both alike. */
export interface Issue {
  /** `owner/name` */
  readonly repo: string;
  readonly number: string;
}

/** Names of dots only would lead elsewhere in an address. */
const chat = /^github:((?!\.+\/)[\w.-]{1,100}\/(?!\.+#)[\w.-]{1,100})#(\d{1,10})$/;

/** The issue that is the chat of this id; undefined for every other chat. */
export const readIssue = (chatId: string): Issue | undefined => {
  const [, repo = '', number = ''] = chat.exec(chatId) ?? [];
  return number === '' ? undefined : { repo, number };
};

const usualNumbers = ['{pull_request.number}', '{issue.number}', '{number}'];

/** Where the payload says that the comment belongs: undefined when it names no issue. */
const issueChat = ({ deliver_extra: extra }: Route, facts: TemplateFacts): string | undefined => {
  const repo = renderTemplate(extra.repo, facts);
  const numbers = (extra.pr_number === undefined ? usualNumbers : [extra.pr_number]).map((template) => renderTemplate(template, facts));
  return numbers.map((number) => `github:${repo}#${number}`).find((id) => readIssue(id) !== undefined);
};

export interface Places {
  /** As people write delivery targets; undefined when the answer is only kept. */
  readonly deliver: string | undefined;
  /** The chat of the issue that gets a comment. */
  readonly issue: string | undefined;
}

/** The places that get the answer to a call; undefined when it asks for a comment and names nothing to comment on. */
export const placesOf = (route: Route, account: string, facts: TemplateFacts): Places | undefined => {
  const { deliver } = route;
  if (!namedIn(deliver).includes(commentPlace)) return { deliver: isNowhere(deliver) ? undefined : deliver, issue: undefined };
  const issue = issueChat(route, facts);
  if (issue === undefined) return undefined;
  return { deliver: namedIn(deliver).map((part) => (part === commentPlace ? `${account}:${issue}` : part)).join(', '), issue };
};
