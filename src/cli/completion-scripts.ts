export interface CompletionWord {
  readonly word: string;
  readonly about: string;
}

/** What may be typed behind the commands of a path: `/gateway` for `hermes gateway`, empty for `hermes` itself. */
export interface CompletionPlace {
  readonly path: string;
  readonly words: readonly CompletionWord[];
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const paths = (places: readonly CompletionPlace[]): string => places.map(({ path }) => path).filter((path) => path !== '').join('|');

export const bashScript = (places: readonly CompletionPlace[]): string => `# Completion of hermes for bash.
_hermes() {
  local at= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at/\${COMP_WORDS[i]}" in
      ${paths(places)}) at="$at/\${COMP_WORDS[i]}" ;;
    esac
  done
  local words=
  case "$at" in
${places.map(({ path, words }) => `    ${path === '' ? "''" : path}) words=${quote(words.map(({ word }) => word).join(' '))} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _hermes hermes
`;

const zshWord = ({ word, about }: CompletionWord): string => quote(`${word.replaceAll(':', '\\:')}:${about}`);

export const zshScript = (places: readonly CompletionPlace[]): string => `#compdef hermes
# Completion of hermes for zsh.
_hermes() {
  local at= word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at/$word" in
      ${paths(places)}) at="$at/$word" ;;
    esac
  done
  case "$at" in
${places.map(({ path, words }) => `    ${path === '' ? "''" : path}) candidates=(${words.map(zshWord).join(' ')}) ;;`).join('\n')}
  esac
  _describe hermes candidates || _files
}
compdef _hermes hermes
`;

const fishQuote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const fishLine = (path: string, { word, about }: CompletionWord): string => {
  const name = word.startsWith('--') ? `-l ${word.slice(2)}` : word.startsWith('-') ? `-s ${word.slice(1)}` : `-a ${fishQuote(word)}`;
  return `complete -c hermes -n '__hermes_at "${path}"' ${name} -d ${fishQuote(about)}`;
};

export const fishScript = (places: readonly CompletionPlace[]): string => `# Completion of hermes for fish.
function __hermes_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at/$word"
      case ${paths(places).split('|').map(fishQuote).join(' ')}
        set at "$at/$word"
    end
  end
  test "$at" = "$argv[1]"
end
${places.flatMap(({ path, words }) => words.map((word) => fishLine(path, word))).join('\n')}
`;
