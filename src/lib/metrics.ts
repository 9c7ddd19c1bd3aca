type Kind = 'counter' | 'gauge' | 'histogram';
type Values<L extends readonly string[]> = { readonly [K in keyof L]: string };

export interface Counter {
  inc(by?: number): void;
}

export interface Gauge {
  set(value: number): void;
  inc(by?: number): void;
}

export interface Histogram {
  observe(value: number): void;
}

/** One metric; `at` names the label values in the order of the labels and may be kept by whoever counts often. */
export interface Family<Series, L extends readonly string[] = readonly string[]> {
  at(...values: Values<L>): Series;
  /** Forgets every combination of label values, for what is set anew before every text: whatever is gone must not be shown as it was last. */
  clear(): void;
}

export interface MetricOptions<L extends readonly string[]> {
  readonly name: string;
  readonly help: string;
  readonly labels?: L;
}

/** A registry with a text in the Prometheus exposition format 0.0.4. */
export interface Metrics {
  counter<const L extends readonly string[] = []>(options: MetricOptions<L>): Family<Counter, L>;
  gauge<const L extends readonly string[] = []>(options: MetricOptions<L>): Family<Gauge, L>;
  histogram<const L extends readonly string[] = []>(options: MetricOptions<L> & { readonly buckets: readonly number[] }): Family<Histogram, L>;
  /** Called before every text, to set what is only known by asking. Its failure is reported and hides nothing else. */
  collect(collector: () => void | Promise<void>): void;
  text(): Promise<string>;
}

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

/** Durations in seconds, from a millisecond to a minute. */
export const durationBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

interface Written {
  lines(name: string, labels: string): readonly string[];
}

const number = (value: number): string => {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
};
const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeValue = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');
const braces = (labels: string): string => (labels === '' ? '' : `{${labels}}`);

const newCounter = (): Counter & Written => {
  let total = 0;
  return {
    inc(by = 1) {
      if (by > 0) total += by;
    },
    lines: (name, labels) => [`${name}${braces(labels)} ${number(total)}`],
  };
};

const newGauge = (): Gauge & Written => {
  let current = 0;
  return {
    set(value) {
      current = value;
    },
    inc(by = 1) {
      current += by;
    },
    lines: (name, labels) => [`${name}${braces(labels)} ${number(current)}`],
  };
};

const newHistogram = (buckets: readonly number[]): Histogram & Written => {
  const counts = buckets.map(() => 0);
  let count = 0;
  let sum = 0;
  return {
    observe(measured) {
      // A clock that is set back must not take something off a sum: readers would take that for a new start.
      const value = Math.max(0, measured);
      count += 1;
      sum += value;
      const index = buckets.findIndex((bound) => value <= bound);
      if (index !== -1) counts[index] = (counts[index] ?? 0) + 1;
    },
    lines(name, labels) {
      const prefix = labels === '' ? '' : `${labels},`;
      let below = 0;
      const bucketLines = buckets.map((bound, index) => {
        below += counts[index] ?? 0;
        return `${name}_bucket{${prefix}le="${number(bound)}"} ${below}`;
      });
      return [...bucketLines, `${name}_bucket{${prefix}le="+Inf"} ${count}`, `${name}_sum${braces(labels)} ${number(sum)}`, `${name}_count${braces(labels)} ${count}`];
    },
  };
};

interface Registered {
  text(): string;
}

const separator = '\u0000';

const newFamily = <Series extends Written, L extends readonly string[]>(
  kind: Kind,
  options: MetricOptions<L> & { readonly maxSeries: number },
  make: () => Series,
): Family<Series, L> & Registered => {
  const labels = options.labels ?? [];
  const series = new Map<string, Series>();
  const create = (key: string): Series => {
    const made = make();
    series.set(key, made);
    return made;
  };
  const others = labels.map(() => 'other').join(separator);
  if (labels.length === 0) create('');
  const written = (key: string): string => {
    const values = key.split(separator);
    return labels.map((label, index) => `${label}="${escapeValue(values[index] ?? '')}"`).join(',');
  };
  return {
    at(...values) {
      const key = values.join(separator);
      const known = series.get(key);
      if (known !== undefined) return known;
      if (series.size < options.maxSeries) return create(key);
      return series.get(others) ?? create(others);
    },
    clear() {
      series.clear();
      if (labels.length === 0) create('');
    },
    text() {
      const lines = [...series].flatMap(([key, one]) => one.lines(options.name, written(key)));
      return [`# HELP ${options.name} ${escapeHelp(options.help)}`, `# TYPE ${options.name} ${kind}`, ...lines].join('\n');
    },
  };
};

const validName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const validLabel = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

/** A metric keeps at most `maxSeries` combinations of label values; further ones are counted together as `other`. */
export const newMetrics = (options: { readonly onError: (error: unknown) => void; readonly maxSeries?: number }): Metrics => {
  const maxSeries = options.maxSeries ?? 500;
  const families = new Map<string, Registered>();
  const collectors: (() => void | Promise<void>)[] = [];
  const register = <Series extends Written, const L extends readonly string[]>(kind: Kind, metric: MetricOptions<L>, make: () => Series): Family<Series, L> => {
    const badLabel = metric.labels?.find((label) => !validLabel.test(label) || label === 'le');
    if (!validName.test(metric.name) || badLabel !== undefined) throw new TypeError(`${badLabel ?? metric.name} is not a name that Prometheus takes`);
    if (families.has(metric.name)) throw new TypeError(`the metric ${metric.name} exists already`);
    const family = newFamily(kind, { ...metric, maxSeries }, make);
    families.set(metric.name, family);
    return family;
  };
  return {
    counter: (metric) => register('counter', metric, newCounter),
    gauge: (metric) => register('gauge', metric, newGauge),
    histogram: (metric) => register('histogram', metric, () => newHistogram(metric.buckets)),
    collect(collector) {
      collectors.push(collector);
    },
    async text() {
      const results = await Promise.allSettled(collectors.map(async (collector) => collector()));
      for (const result of results) if (result.status === 'rejected') options.onError(result.reason);
      return `${[...families.values()].map((family) => family.text()).join('\n')}\n`;
    },
  };
};
