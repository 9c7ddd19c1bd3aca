/**
 * Top-level names of the original's config.yaml. Those that are not sections here are accepted, so that one file can
 * serve both programs. Names that decide who may speak are left out on purpose: they are never accepted and unused.
 */
export const foreignSections: readonly string[] = [
  'agent', 'always_log_local', 'approvals', 'auth', 'auxiliary', 'bedrock', 'bot_desktop', 'bot_mode', 'browser', 'checkpoints', 'clarify',
  'code_execution', 'command_allowlist', 'companion_workers', 'compression', 'computer_use', 'context', 'context_file_max_chars', 'context_file_read_timeout',
  'credential_pool_strategies', 'cron', 'curator', 'custom_providers', 'dashboard', 'database', 'delegation', 'delivery_ledger', 'desktop', 'discord', 'display', 'doctor',
  'fallback', 'fallback_model', 'fallback_providers', 'file_read_max_chars', 'filter_silence_narration', 'goals', 'honcho', 'hooks', 'hooks_auto_accept',
  'human_delay', 'image_gen', 'image_generation', 'kanban', 'known_builtin_toolsets', 'known_plugin_toolsets', 'local_runtime', 'logging', 'loop_watchdog', 'loops', 'lsp',
  'matrix', 'mattermost', 'max_concurrent_sessions', 'max_live_sessions', 'mcp', 'mcp_discovery_timeout', 'mcp_servers', 'mcp_single_query_discovery_timeout', 'memory',
  'message_timestamps', 'moa', 'model_catalog', 'model_overrides', 'models_dev', 'monitoring', 'multiplex_profile_allowlist', 'multiplex_profiles', 'network', 'nous', 'onboarding', 'openrouter',
  'paste_collapse_char_threshold', 'paste_collapse_threshold', 'paste_collapse_threshold_fallback', 'personalities', 'platform_connect_timeout', 'platform_hints', 'platform_toolsets',
  'plugins', 'prefill_messages_file', 'privacy', 'prompt_caching', 'providers', 'proxy', 'quick_commands', 'reset_by_platform', 'reset_by_type', 'reset_triggers',
  'respawn_storm', 'runtime', 'secrets', 'security', 'session', 'session_reset', 'session_store_max_age_days', 'sessions', 'signal', 'skills', 'slack',
  'smart_model_routing', 'status_phrases', 'streaming', 'stt', 'stt_echo_transcripts', 'supervisor', 'systemd_watchdog_seconds', 'telegram', 'telemetry', 'terminal', 'timeouts', 'timezone',
  'tool_gateway_declined_tools', 'tool_loop_guardrails', 'tool_output', 'tools', 'toolsets', 'trust_env', 'tts', 'updates', 'vault', 'vertex',
  'video_gen', 'video_generation', 'vision', 'voice', 'wake_word', 'web', 'whatsapp', 'write_sessions_json', 'x_search',
];
