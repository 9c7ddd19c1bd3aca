import type { ModelRoute } from '../contract.ts';

/** Who is asked in one turn. It only moves on: the next turn begins with the first again. */
export interface RouteCursor {
  readonly current: ModelRoute;
  readonly hasNext: boolean;
  /** The model refused the reasoning that was sent back to it; for the rest of the turn none is. */
  withoutReasoning: boolean;
  /** Moves on to whoever stands in; undefined when nobody does. */
  next(): ModelRoute | undefined;
}

export const newRouteCursor = (first: ModelRoute, fallbacks: readonly ModelRoute[] = []): RouteCursor => {
  const routes = [first, ...fallbacks];
  let index = 0;
  return {
    withoutReasoning: false,
    get current() {
      return routes[index] ?? first;
    },
    get hasNext() {
      return index < routes.length - 1;
    },
    next() {
      const following = routes[index + 1];
      if (following === undefined) return undefined;
      index += 1;
      this.withoutReasoning = false;
      return following;
    },
  };
};

/** For people and logs: `anthropic, claude-sonnet-5-5`. */
export const routeLabel = ({ provider, model }: ModelRoute): string => (provider.name === model ? model : `${provider.name}, ${model}`);
