/// What `martlet --version` prints, and the only place that says so.
enum Version {
    static let current = "0.1.0-dev"
}
