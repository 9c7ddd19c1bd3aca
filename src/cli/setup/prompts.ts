/** The person has left: nothing may be changed. */
export class Cancelled extends Error {
  constructor() {
    super('cancelled');
    this.name = 'Cancelled';
  }
}

export interface Option<Value> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
}

export interface ChoiceQuestion<Value> {
  readonly message: string;
  readonly options: readonly Option<Value>[];
  /** The one that Enter takes. */
  readonly initial?: Value;
}

export interface TextQuestion {
  readonly message: string;
  readonly initial?: string;
  /** What such an answer looks like. */
  readonly example?: string;
  /** Why an answer cannot be taken. */
  validate?(text: string): string | undefined;
}

export type Tone = 'info' | 'success' | 'warning' | 'error';

/** How the wizard talks with a person. Whoever leaves in the middle of a question throws `Cancelled`. */
export interface Prompts {
  begin(title: string): void;
  say(tone: Tone, text: string): void;
  /** Something to keep in view. */
  show(title: string, text: string): void;
  choose<Value>(question: ChoiceQuestion<Value>): Promise<Value>;
  ask(question: TextQuestion): Promise<string>;
  /** What is typed is not shown. */
  askSecret(question: Omit<TextQuestion, 'initial' | 'example'>): Promise<string>;
  confirm(message: string, initial: boolean): Promise<boolean>;
  end(text: string): void;
  close(): void;
}
