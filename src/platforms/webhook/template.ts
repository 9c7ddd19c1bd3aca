/** What a template may speak of. */
export interface TemplateFacts {
  readonly payload: unknown;
  readonly event: string;
  readonly route: string;
}

/** How much of a value is put in. */
const longest = { part: 2_000, raw: 4_000, text: 4_000 };

const placeholder = /\{([A-Za-z0-9_][\w.-]*)\}/g;

const own = (value: object, key: string): unknown => (Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined);

/** What stands at `a.b.0.c`; undefined when nothing does. */
export const valueAt = (payload: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (typeof value === 'object' && value !== null ? own(value, key) : undefined), payload);

const cut = (text: string, limit: number): string => text.slice(0, limit).toWellFormed();

const inJson = (value: unknown, limit: number): string => cut(JSON.stringify(value, null, 2), limit);

const written = (value: unknown): string => {
  switch (typeof value) {
    case 'string':
      return cut(value, longest.text);
    case 'boolean':
      // As templates of the original have always shown them.
      return value ? 'True' : 'False';
    case 'object':
      return value === null ? 'None' : inJson(value, longest.part);
    default:
      return String(value);
  }
};

const lookUp = ({ payload, event }: TemplateFacts, name: string): string | undefined => {
  if (name === '__raw__') return inJson(payload, longest.raw);
  if (name === 'event_type') return event;
  const value = valueAt(payload, name);
  return value === undefined ? undefined : written(value);
};

/**
 * The words of a template with values of the payload put in; what names no value stays as it is written. `quote` gets each value that somebody else
 * has chosen.
 */
export const renderTemplate = (template: string, facts: TemplateFacts, quote: (value: string) => string = (value) => value): string => {
  if (template === '') return `Webhook event '${quote(facts.event)}' on route '${facts.route}':\n\n\`\`\`json\n${quote(inJson(facts.payload, longest.raw))}\n\`\`\``;
  return template.replaceAll(placeholder, (whole, name: string) => {
    const value = lookUp(facts, name);
    return value === undefined ? whole : quote(value);
  });
};

/** The same for words that mean something only with all their values; undefined when one is missing. */
export const renderWhole = (template: string, facts: TemplateFacts): string | undefined =>
  [...template.matchAll(placeholder)].some(([, name = '']) => lookUp(facts, name) === undefined) ? undefined : renderTemplate(template, facts);
