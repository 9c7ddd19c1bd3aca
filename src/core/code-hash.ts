/** A secret that people type, as it is kept: never the secret itself. */
export interface CodeHash {
  readonly salt: string;
  readonly hash: string;
}
