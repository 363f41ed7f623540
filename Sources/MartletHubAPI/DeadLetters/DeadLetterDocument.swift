public import MartletCore
public import MartletModel

/// Dead letters as JSON, for the hub's API and the admin API. They contain neither handles nor content.
public enum DeadLetterDocument {
    /// The maximum number of dead letters, or of notifications, on one page.
    public static let pageLimit = 500

    /// Returns a page of a notification's dead letters as JSON, with the position of the next page.
    public static func json(_ page: DeadLetterPage) -> JSON {
        var members = json(page.summary)
        members["deadLetters"] = .array(page.refusals.records.map { json($0, page.summary.resends) })
        members["continuation"] = page.refusals.next.map { .string(text(of: $0)) }
        return .object(members)
    }

    /// Returns a page of the notifications that have dead letters as JSON.
    /// - Parameter found: At most `limit + 1` notifications; the extra one shows that there is another page.
    public static func json(_ found: [DeadLetterSummary], limit: Int = pageLimit) -> JSON {
        let page = found.prefix(limit)
        var members: [String: JSON] = ["notifications": .array(page.map { .object(json($0)) })]
        if found.count > page.count { members["continuation"] = page.last.map { .string($0.id.description) } }
        return .object(members)
    }

    /// Returns a page of the notifications that have dead letters as JSON.
    /// - Parameter next: The last notification that was examined for this page, after which the next page continues;
    ///   nil if this is the last page.
    public static func json(_ summaries: [DeadLetterSummary], next: NotificationID?) -> JSON {
        var members: [String: JSON] = ["notifications": .array(summaries.map { .object(json($0)) })]
        members["continuation"] = next.map { .string($0.description) }
        return .object(members)
    }

    private static func json(_ summary: DeadLetterSummary) -> [String: JSON] {
        [
            "notification": .string(summary.id.description), "acceptedAt": .string(summary.acceptedAt.iso8601),
            "state": .string(summary.state.rawValue),
            "resends": .array(
                summary.resends.map { resend in
                    [
                        "notification": .string(resend.id.description),
                        "outcome": resend.outcome.map { .string($0.rawValue) } ?? .null,
                    ]
                }),
            "platforms": .object(
                Dictionary(
                    uniqueKeysWithValues: summary.counts.map { platform, counts in
                        let members = counts.map { ($0.key.rawValue, JSON.integer(Int64($0.value))) }
                        return (platform.rawValue, .object(Dictionary(uniqueKeysWithValues: members)))
                    })),
        ]
    }

    private static func json(_ letter: RefusalRecord, _ resends: [ResendRecord]) -> JSON {
        var members: [String: JSON] = [
            "platform": .string(letter.platform.rawValue), "outcome": .string(letter.outcome.rawValue),
            "reason": .string(letter.reason), "at": .string(letter.at.iso8601),
            "attempts": .integer(Int64(letter.attempts)), "token": .string(letter.fate.rawValue),
        ]
        members["registration"] = letter.registration.map(JSON.string)
        members["installation"] = letter.installation.map(JSON.string)
        members["status"] = letter.status.map { .integer(Int64($0)) }
        let resend =
            resends.first { $0.outcome == letter.outcome } ?? resends.first { $0.outcome == nil }
        members["resentAs"] = resend.map { .string($0.id.description) }
        return .object(members)
    }

    /// The sentence, without its full stop, for a resend that sends nothing because no device is registered any more.
    public static let gone = "None of these dead letters is registered any more: there is nobody to send them to again"

    /// Returns the sentence, without its full stop, for a resend that sends nothing because no dead letter matches.
    /// - Parameter outcomes: The outcomes for which the notification has dead letters.
    public static func nothing(_ outcomes: [OutcomeName]) -> String {
        guard !outcomes.isEmpty else { return "The notification has no dead letters that could be sent again" }
        let names = outcomes.map(\.rawValue).joined(separator: ", ")
        return "The notification has no dead letters of this outcome; it has some of \(names)"
    }

    // MARK: Positions of pages

    private static func text(of position: RefusalPosition) -> String {
        "\(position.delivery.rawValue).\(position.member.channel.rawValue).\(position.member.registration)"
    }

    /// Parses the `continuation` of a page, which is the position at which the page ended; nil if the text is not a
    /// position.
    public static func position(_ text: String) -> RefusalPosition? {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
        guard text.utf8.count <= 64, numbers.count == 3, let delivery = numbers[0], let channel = numbers[1],
            let registration = numbers[2]
        else { return nil }
        return RefusalPosition(
            delivery: Delivery.ID(rawValue: delivery),
            member: AudienceMember(channel: ChannelID(rawValue: channel), registration: registration))
    }
}
