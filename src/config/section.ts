import type { z } from 'zod';

declare module 'zod' {
  /** What a setting's schema says about it beyond its type; `.describe()` gives the sentence for the docs. */
  interface GlobalMeta {
    /** Its environment variable. `<PLATFORM>_` stands for the platform's name in upper case. */
    env?: string;
    /** Masked wherever it is shown, and made known to the redactor. */
    secret?: boolean;
    /** What is written is the name of a variable; the setting is what the variable holds. */
    namesVariable?: boolean;
    /** Other names under which the key is read. */
    aliases?: readonly string[];
    /** A bare value in place of this mapping is read as the value of this key. */
    shorthand?: string;
  }
}

/** Whether a changed section takes effect in the running process. */
export type Reload = 'live' | 'restart';

/** What is wrong with a section in the light of the others; each text begins with the path it is about. */
export interface SectionFindings {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** One top-level key of config.yaml, declared beside the code that reads it. */
export interface Section<Name extends string = string, Schema extends z.ZodType = z.ZodType> {
  readonly name: Name;
  readonly schema: Schema;
  readonly reload: Reload;
  /** Called with the values of all sections once each is valid by itself, and with the folder they are for, where there is one. */
  readonly check?: (all: Readonly<Record<string, unknown>>, home: string | undefined) => SectionFindings;
}

export const defineSection = <const Name extends string, Schema extends z.ZodType>(name: Name, schema: Schema, reload: Reload, check?: Section['check']): Section<Name, Schema> => ({
  name,
  schema,
  reload,
  ...(check !== undefined && { check }),
});

/** `values.http.port` is typed by the schema of the section `http`. */
export type SectionValues<Sections extends readonly Section[]> = {
  readonly [S in Sections[number] as S['name']]: z.output<S['schema']>;
};
