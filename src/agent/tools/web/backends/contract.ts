export interface SearchQuery {
  readonly query: string;
  readonly limit: number;
  /** Without a slash at its end; the service's own address when the owner names none. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface SearchCall {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** How to ask one search service, and how to read what it answers. */
export interface SearchBackend {
  /** Nothing for a service that everybody runs for themselves. */
  readonly baseUrl?: string;
  call(query: SearchQuery): SearchCall;
  /** Nothing when it is not an answer of this service. */
  results(json: unknown): readonly SearchResult[] | undefined;
}

export const jsonCall = (url: string, headers: Readonly<Record<string, string>>, body: unknown): SearchCall => ({
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});
