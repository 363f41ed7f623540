import MartletServer

/// Decides whether an action that cannot be undone is performed.
enum Confirmation: Equatable {
    case given
    /// The user is at a terminal and can be asked.
    case asked
    case missing

    static let option = Option("yes", nil, "Do it without asking.", isFlagAlone: true)

    init(isGiven: Bool, isInteractive: Bool) {
        self = isGiven ? .given : isInteractive ? .asked : .missing
    }

    private init(_ invocation: Invocation) {
        self.init(isGiven: invocation.isOn(Self.option.name), isInteractive: Terminal.isInteractive)
    }

    /// Requires a user at a terminal to type a name again before the action; without a terminal, `--yes` must be given.
    /// - Parameter consequence: What the action does, without a period, such as
    ///   `Deleting a hub removes its registrations for good`.
    static func require(_ invocation: Invocation, typing name: String, _ consequence: String) throws {
        switch Confirmation(invocation) {
        case .given: return
        case .asked:
            let typed = Terminal.ask("\(consequence).\nType '\(name)' to go on: ")
            guard typed == name else { throw ServerError("Nothing was changed: '\(name)' was not typed.") }
        case .missing:
            throw UsageError(description: "\(consequence): say --yes.", command: invocation.command)
        }
    }

    /// Returns whether `ask` would ask the user.
    static func canAsk(_ invocation: Invocation) -> Bool { Confirmation(invocation) == .asked }

    /// Asks a user at a terminal. Without a terminal, or with `--yes`, the command continues without asking.
    static func ask(_ invocation: Invocation, _ question: String) throws {
        guard Confirmation(invocation) == .asked else { return }
        let answer = Terminal.ask("\(question) [y/N] ")?.lowercased()
        guard ["y", "yes"].contains(answer) else { throw ServerError("Nothing was sent.") }
    }
}

extension Int64 {
    /// The number with commas between thousands: `39,950`.
    var grouped: String {
        let digits = String(magnitude)
        let groups = stride(from: digits.count, to: 0, by: -3).map { end in
            String(digits.dropLast(digits.count - end).suffix(3))
        }
        return (self < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
    }

    /// Returns the number with its noun: `1 device`, `39,950 devices`.
    func counted(_ singular: String, _ plural: String? = nil) -> String {
        "\(grouped) \(self == 1 ? singular : plural ?? "\(singular)s")"
    }
}
