import type * as Mcp from '@modelcontextprotocol/client';
import { ToolError } from '../contract.ts';
import { boundedLine } from '../clean-text.ts';

/** A person has to log in before the server can be used (again). */
export class LoginNeeded extends Error {
  constructor(server: string, options?: ErrorOptions) {
    super(`it wants a login; the owner can do that with \`hermes mcp login ${server}\``, options);
    this.name = 'LoginNeeded';
  }
}

/** The server has forgotten our session and has not looked at the request: it may be made again on a new one. */
export class SessionForgotten extends Error {
  constructor(options?: ErrorOptions) {
    super('it has forgotten our session', options);
    this.name = 'SessionForgotten';
  }
}

const maxReasonChars = 300;

const deepest = (error: Error): Error => (error.cause instanceof Error ? deepest(error.cause) : error);

/** What went wrong, in a few words, without secrets and without what only a terminal obeys. */
export const reasonText = (error: unknown, redact: (text: string) => string): string => {
  if (!(error instanceof Error)) return boundedLine(redact(String(error)), maxReasonChars);
  const root = error instanceof ToolError ? '' : deepest(error).message;
  return boundedLine(redact(error.message.includes(root) ? error.message : `${error.message} (${root})`), maxReasonChars);
};

export interface FailedCall {
  readonly server: string;
  readonly library: typeof Mcp;
  readonly hasSession: boolean;
  redact(text: string): string;
}

/** What a request that was answered with an error, or not at all, means for whoever made it. */
export const failureOf = (error: unknown, call: FailedCall): Error => {
  const { library, server } = call;
  const reason = reasonText(error, call.redact);
  if (error instanceof library.InsufficientScopeError) {
    return new ToolError('failed', `The MCP server ${server} wants more rights for this (${boundedLine(error.requiredScope ?? 'unnamed', 200)}). The owner can add them to mcp_servers.${server}.oauth.scope and log in again.`, { cause: error });
  }
  if (error instanceof library.UnauthorizedError) return new LoginNeeded(server, { cause: error });
  if (error instanceof library.ProtocolError) return new ToolError(error.code === library.ProtocolErrorCode.InvalidParams ? 'bad_arguments' : 'failed', `The MCP server ${server} refused: ${reason}`, { cause: error });
  if (error instanceof library.SdkHttpError) {
    if (error.status === 404 && call.hasSession) return new SessionForgotten({ cause: error });
    if (error.status === 401) return new LoginNeeded(server, { cause: error });
    return new ToolError('failed', `The MCP server ${server} answered with HTTP ${error.status}: ${reason}`, { cause: error });
  }
  if (error instanceof library.SdkError && error.code === library.SdkErrorCode.ConnectionClosed) {
    return new ToolError('failed', `The MCP server ${server} ended while this call was running. It may have taken effect.`, { cause: error });
  }
  return new ToolError('failed', `The call to the MCP server ${server} failed: ${reason}`, { cause: error });
};
