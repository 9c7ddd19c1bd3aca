/** A credential of the API, as it is kept: never the credential itself. */
export interface ApiKeyRow {
  id: string;
  name: string;
  hash: string;
  /** Its first characters, for people. */
  hint: string;
  /** JSON. */
  scopes: string;
  limits: string;
  created_at: number;
  rotated_at: number | null;
  used_at: number | null;
}

/** A call of the API that is answered by a turn of a conversation. */
export interface ApiCallRow {
  /** Also the native id of its message in the inbox. */
  id: string;
  key_id: string;
  kind: string;
  session_id: string;
  /** JSON, as is the result. */
  request: string;
  result: string | null;
  /** 1 when nobody is to find it later. */
  hidden: number;
  created_at: number;
  ended_at: number | null;
}

/** Something that has happened in a run. */
export interface RunEventRow {
  run_id: string;
  /** Grows within a run; what was taken back leaves a gap. */
  seq: number;
  kind: string;
  /** JSON. */
  event: string;
  created_at: number;
}
