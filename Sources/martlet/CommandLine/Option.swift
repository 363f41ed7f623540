/// One setting of a command, declared once. Its flag, its environment variable, its key in the configuration file and
/// its line of help are derived from this declaration.
struct Option: Sendable {
    /// The flag without its dashes, such as `tls-listen`. It is also the key in the configuration file.
    var name: String
    /// The placeholder for the value in help; nil for a switch.
    var placeholder: String?
    var help: String
    var fallback: String?
    /// Whether the value is a secret. Other users of the machine can read the flags of a process, so the value can also
    /// be given with `fileOption`.
    var isSecret: Bool
    /// Whether the option can only be given as a flag, and not in the environment or a file, because it must be given
    /// each time.
    var isFlagAlone: Bool

    init(
        _ name: String, _ placeholder: String? = nil, _ help: String, default fallback: String? = nil,
        isSecret: Bool = false, isFlagAlone: Bool = false
    ) {
        self.name = name
        self.placeholder = placeholder
        self.help = help
        self.fallback = fallback
        self.isSecret = isSecret
        self.isFlagAlone = isFlagAlone
    }

    /// The option `--quiet`, for commands that print nothing but a report of what they did.
    static let quiet = Option("quiet", nil, "Do not say what was done.")

    /// Returns the option `--json`, for commands that print a result.
    /// - Parameter members: The members of the printed JSON object, or of each object if several are printed.
    static func json(_ members: String = "everything that is known") -> Option {
        Option("json", nil, "Print it as JSON: \(members).")
    }

    /// The name of the environment variable, such as `MARTLET_TLS_LISTEN`.
    var environmentVariable: String {
        "MARTLET_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    var usage: String { placeholder.map { "--\(name) \($0)" } ?? "--\(name)" }

    /// The option that names a file with the value of this option, if this option is secret.
    var fileOption: Option {
        Option(
            "\(name)-file", "FILE",
            "A file with --\(name), as one line, which 'ps' does not show; - reads standard input.")
    }
}
