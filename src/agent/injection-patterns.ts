/**
 * How much may be demanded of a text. `all`: anything that reaches the model. `context`: what is put in front of it as instructions of the
 * owner's, such as AGENTS.md. `strict`: what stays, such as a memory, a skill or the prompt of a job. Each also looks for what stands before it.
 */
export type ScanScope = 'all' | 'context' | 'strict';

/** A sign that a text wants to steer the agent rather than inform it. */
export interface InjectionPattern {
  readonly id: string;
  readonly scope: ScanScope;
  /** What people and the model are told it looks like. */
  readonly meaning: string;
  /** Case does not matter; runs of white space are one space; what cannot be seen is gone. Repetitions are bounded, so that no text makes it slow. */
  readonly shape: RegExp;
}

const secretVariable = String.raw`\$\{?\w{0,40}(?:key|token|secret|passw(?:or)?d|credential|auth)`;

export const injectionPatterns: readonly InjectionPattern[] = [
  {
    id: 'ignore_previous',
    scope: 'all',
    meaning: 'tells the agent to drop its instructions',
    shape: /\b(?:ignore|disregard|forget|override|bypass)\b(?: \w{1,15}){0,3} (?:previous|prior|above|earlier|preceding|existing|system|safety|initial|original)(?: \w{1,15}){0,2} (?:instructions?|prompts?|rules?|guidelines?|directives?|messages?|context|training)\b/i,
  },
  {
    id: 'ignore_yours',
    scope: 'all',
    meaning: 'tells the agent to drop its instructions',
    shape: /\b(?:ignore|disregard|forget) (?:all |any )?(?:of )?your (?:\w{1,15} ){0,2}(?:instructions?|rules?|guidelines?|programming|training)\b/i,
  },
  {
    id: 'prompt_override',
    scope: 'all',
    meaning: 'claims to be a new system prompt',
    shape: /\b(?:new|updated|revised) (?:system )?(?:instructions?|prompt)s? ?: |\bsystem prompt (?:override|update)\b|<\/?\|?(?:system|im_start|im_end|endoftext)\|?>|\[\/?(?:INST|SYSTEM)\]/i,
  },
  { id: 'reveal_prompt', scope: 'all', meaning: 'asks for the system prompt', shape: /\b(?:reveal|print|output|repeat|show|leak)\b(?: \w{1,15}){0,6} (?:system prompt|hidden instructions|initial instructions)\b/i },
  { id: 'hide_from_user', scope: 'all', meaning: 'wants something kept from the person', shape: /\b(?:do not|don't|never) (?:tell|inform|mention|reveal|show)(?: \w{1,15}){0,4} (?:the |your )?(?:users?|humans?|owner|operator)\b/i },
  {
    id: 'hidden_html',
    scope: 'all',
    meaning: 'has instructions in markup that is not shown',
    shape: /<!--[^>]{0,400}\b(?:ignore|instructions?|system prompt|assistant|you must|secretly)\b[^>]{0,400}-->|<[a-z]{1,12}[^>]{0,200}(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0)[^>]{0,200}>/i,
  },
  { id: 'exfil_variable', scope: 'all', meaning: 'sends a secret somewhere', shape: new RegExp(String.raw`\b(?:curl|wget|nc|ncat|fetch|invoke-webrequest)\b[^\n]{0,300}${secretVariable}`, 'i') },
  {
    id: 'read_secrets',
    scope: 'all',
    meaning: 'reads credentials',
    shape: /\b(?:cat|type|less|head|tail|base64|xxd|cp|scp) [^\n|;]{0,120}(?:\.env\b|\.netrc|\.pgpass|id_(?:rsa|ed25519|ecdsa)|credentials\b|\.aws\/|\.kube\/config|\.npmrc|\.ssh\/)/i,
  },
  {
    id: 'role_hijack',
    scope: 'context',
    meaning: 'gives the agent another identity',
    shape: /\byou are (?:now|no longer)\b(?! (?:able|allowed|ready|connected|done|in|on|at)\b)|\b(?:act|behave|respond) as (?:if you (?:have|had) no|an? (?:unrestricted|uncensored|unfiltered|jailbroken))|\b(?:developer|god|dan|jailbreak) mode\b(?: (?:on|enabled|activated))?|\bpretend (?:that )?you (?:are|have)(?: \w{1,15}){0,4} (?:no|without) (?:rules|restrictions|limits|filters)\b/i,
  },
  { id: 'no_limits', scope: 'context', meaning: 'lifts the agent’s limits', shape: /\bwithout (?:any )?(?:restrictions?|limitations?|safety (?:checks?|filters?)|approval|asking (?:the user|for permission))\b|\bsafety (?:guidelines?|filters?|checks?) (?:are|is) (?:off|disabled|lifted)\b/i },
  { id: 'command_and_control', scope: 'context', meaning: 'speaks of remote control', shape: /\b(?:reverse shell|bind shell|command and control|c2 (?:server|beacon|channel)|beacon (?:to|home)|meterpreter)\b|\/dev\/tcp\/|\bbash -i\b[^\n]{0,40}>&/i },
  { id: 'anti_forensics', scope: 'context', meaning: 'removes traces', shape: /\b(?:clear|erase|delete|wipe)\b[^\n]{0,40}\b(?:bash_history|shell history|audit logs?|log files|traces|evidence)\b|\bhistory -c\b|\bunset histfile\b/i },
  { id: 'pipe_to_shell', scope: 'context', meaning: 'runs what it downloads', shape: /\b(?:curl|wget)\b[^\n|]{0,300}\| ?(?:sudo )?(?:ba|z|k|da)?sh\b/i },
  { id: 'ssh_access', scope: 'strict', meaning: 'touches SSH access', shape: /\bauthorized_keys\b|\.ssh\/|\bssh-(?:rsa|ed25519) AAAA/i },
  { id: 'send_out', scope: 'strict', meaning: 'sends data to an address', shape: /\b(?:send|post|upload|forward|exfiltrate|transmit|report)\b[^\n]{0,80}\b(?:to|at) https?:\/\//i },
  {
    id: 'agent_config',
    scope: 'strict',
    meaning: 'changes the agent’s own configuration',
    shape: /\b(?:edit|write|append|modify|change|overwrite|add|insert|update)\b[^\n]{0,60}(?:\b(?:AGENTS|SOUL|CLAUDE|HERMES|MEMORY|USER)\.md\b|\.hermes\/|\.cursorrules\b|\bconfig\.yaml\b|\bcommand_allowlist\b)/i,
  },
  {
    id: 'hardcoded_secret',
    scope: 'strict',
    meaning: 'contains a secret',
    shape: /\b(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|secret[_-]?key|password|passwd)\b["']? ?[:=] ?["']?[A-Za-z0-9_+/=.~-]{16,}|\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bAKIA[0-9A-Z]{16}\b|-----BEGIN (?:[A-Z]{1,12} ){0,2}PRIVATE KEY-----/i,
  },
];
