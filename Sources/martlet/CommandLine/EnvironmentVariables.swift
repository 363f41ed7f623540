/// The environment variables of this process that set options.
enum EnvironmentVariables {
    /// The variables that the program reads, although no option has their names.
    private static let others: Set<String> = [
        "MARTLET_CONFIG", "MARTLET_SECRET_KEY", "MARTLET_SECRET_KEY_FILE", "MARTLET_MESSAGES_PER_READ",
    ]

    /// Returns a warning for each variable that looks like a setting but is not one.
    /// - Parameter settings: The names of all settings.
    static func warnings(_ names: some Sequence<String>, settings: Set<String>) -> [String] {
        let known = others.union(settings.map { Option($0, nil, "").environmentVariable })
        return names.filter { $0.hasPrefix("MARTLET_") && !known.contains($0) }.sorted().map { name in
            "No command has a setting \(name).\(Spelling.question(name, known))"
        }
    }

    /// The names of the environment variables of this process; empty if the system does not provide them.
    static var names: [String] {
        let entries = (try? TextFile.read("/proc/self/environ", limit: 1 << 24)) ?? []
        return entries.split(separator: 0).map { entry in
            String(decoding: entry.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
        }
    }
}
