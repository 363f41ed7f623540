/// The script with which a shell completes the words of a `martlet` command line. The script asks the program, with
/// `martlet complete`, so that it always knows the same options as the program.
enum CompletionScript: String, CaseIterable {
    case bash
    case zsh
    case fish

    var text: String {
        switch self {
        case .bash: Self.bashText
        case .zsh: Self.zshText
        case .fish: Self.fishText
        }
    }

    /// The script takes words as Bash splits them. Bash also splits at '=' and ':', but no name of a command, an option
    /// or a hub contains these characters.
    private static let bashText = """
        # Completion of martlet for bash, printed by 'martlet completion bash'.
        _martlet() {
            local kind rest
            COMPREPLY=()
            {
                read -r kind
                case $kind in
                files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}") ;;
                directories) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "${COMP_WORDS[COMP_CWORD]}") ;;
                words) while IFS=$'\\t' read -r rest _; do COMPREPLY+=("$rest"); done ;;
                esac
            } < <("$1" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
        }
        complete -F _martlet martlet
        """

    private static let zshText = """
        #compdef martlet
        # Completion of martlet for zsh, printed by 'martlet completion zsh'.
        _martlet() {
            local -a lines items
            local line
            lines=("${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
            case ${lines[1]} in
            files) _files ;;
            directories) _files -/ ;;
            words)
                for line in "${(@)lines[2,-1]}"; do
                    items+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
                done
                _describe martlet items
                ;;
            esac
        }
        if [ "$funcstack[1]" = "_martlet" ]; then
            _martlet "$@"
        else
            compdef _martlet martlet
        fi
        """

    private static let fishText = """
        # Completion of martlet for fish, printed by 'martlet completion fish'.
        function __martlet_complete
            set -l words (commandline -opc) (commandline -ct)
            set -l lines (command $words[1] complete -- $words[2..-1] 2>/dev/null)
            switch "$lines[1]"
                case files
                    __fish_complete_path (commandline -ct)
                case directories
                    __fish_complete_directories (commandline -ct)
                case words
                    printf '%s\\n' $lines[2..-1]
            end
        end
        complete -c martlet -f -a '(__martlet_complete)'
        """
}
