import MartletModel

extension DeviceTrace {
    /// The explanation of the trace for users: the verdict first, then a sentence for each fact.
    public var sentences: [String] {
        guard let first = pushes.first else {
            return [
                "Unknown device: this hub has no registration or installation '\(device)', and its history has none "
                    + "either."
            ]
        }
        var sentences = [first.headline(of: self)]
        sentences += accepted
        for push in pushes {
            if pushes.count > 1 { sentences.append("Registration \(push.registration.id):") }
            sentences += push.facts(of: notification)
        }
        sentences += receiptSentences
        return sentences
    }

    private var accepted: [String] {
        let timestamp = "The notification was accepted at \(notification.acceptedAt.iso8601)"
        let due = notification.dueAt.map { ", scheduled for \($0.iso8601)" } ?? ""
        let isGoingOn = pushes.contains { [.retrying, .pending, .scheduled].contains($0.verdict) }
        let until = ", and expires at \(notification.expiresAt.iso8601)"
        return ["\(timestamp)\(due)\(isGoingOn ? until : "")."] + origin.sentences + controlled
    }

    private var controlled: [String] {
        let since = controlledAt.map { " at \($0.iso8601)" } ?? ""
        return switch control {
        case .running: []
        case .paused: ["It was paused\(since); nothing more is sent until it is resumed."]
        case .halted:
            [
                "It halted itself\(since), because more pushes failed than its roll-out allows; nothing more is sent "
                    + "until it is resumed."
            ]
        case .canceled: ["It was canceled\(since); devices to which it had not been sent by then get nothing."]
        }
    }

    private var receiptSentences: [String] {
        if receipts.isEmpty {
            guard verdict == .delivered else { return [] }
            return ["It is not known whether the device received it, because the device has sent no receipt."]
        }
        return receipts.map { "The device reported it as \($0.event.rawValue) at \($0.at.iso8601)." }
    }
}

extension SendOrigin {
    fileprivate var sentences: [String] {
        let sender: [String] =
            switch author {
            case .key(let name): ["It was sent with the access key '\(name)'."]
            case .user: ["It was sent by a user of the app."]
            case .operator(let name): ["It was sent by the operator '\(name)' in the web console."]
            case .administrator: ["It was sent from the admin socket."]
            case nil: []
            }
        return sender + (original.map { ["It sends dead letters of \($0) again."] } ?? [])
    }
}

extension PushTrace {
    fileprivate func headline(of trace: DeviceTrace) -> String {
        let service = registration.platform.rawValue
        switch verdict {
        case .delivered: return "Delivered: \(service) accepted it for the device."
        case .retrying:
            guard trace.control.isHeld else { return "Not delivered yet: it failed, and is tried again." }
            return "Not delivered yet: the next attempt waits until the notification is resumed."
        case .pending: return "Not sent yet: the page with the device has not been sent, or is being sent now."
        case .scheduled: return "Not sent yet: the notification is scheduled for later."
        case .refused:
            let attempt = attempts.last
            return "Refused: \(attempt?.outcome.rawValue ?? "")\(attempt.map { Self.reason($0.reason) } ?? "")."
        case .expired:
            let end = trace.notification.expiresAt
            guard let givenUpAt, givenUpAt < end else {
                return "Given up: the notification expired at \(end.iso8601) before it could be delivered."
            }
            return "Given up: the next attempt would be after the notification expires, at \(end.iso8601)."
        case .suppressed: return "Not sent: \(suppressionReason)"
        case .left: return "Given up: when the next attempt was due, the registration was no longer in the audience."
        case .excluded: return "Not in the audience: \(exclusion)"
        case .notAddressed where hadNoDeadLetter:
            return "Not in the audience: it sent dead letters again, and this device had none."
        case .notAddressed: return "Not in the audience: it was for another platform or another kind of registration."
        case .lapsed: return "Not in the audience: the registration had expired."
        case .missed:
            return "Not in the audience: the device's handle changed before its page was read, so no page contained it."
        case .registeredLater: return "Not in the audience: the registration was made after the notification began."
        case .removedBefore: return "Not in the audience: the registration was removed before its page was read."
        case .canceled:
            guard !attempts.isEmpty else {
                return "Not sent: the notification was canceled before the device's turn."
            }
            let number = attempts.count == 1 ? "1 attempt" : "\(attempts.count) attempts"
            return "Not tried again: the notification was canceled after \(number)."
        case .unknownDevice: return "Unknown device."
        case .unknown: return "Not known: the records of this push are no longer kept."
        }
    }

    private static func reason(_ text: String) -> String {
        text.isEmpty ? "" : " (\(text.hasSuffix(".") ? text.dropLast() : text[...]))"
    }

    private var suppressionReason: String {
        if let attempt = attempts.last { return "\(attempt.outcome.rawValue)\(Self.reason(attempt.reason))." }
        let reasons = (range?.reasons ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }
        return reasons.map { "\($0.key.rawValue)\(Self.reason($0.value))" }.joined(separator: ", or ") + "."
    }

    private var exclusion: String {
        guard let decision else { return "its handle is not in the list that the notification was sent to." }
        return "the registration \(Self.text(of: decision.terms))."
    }

    /// Returns the terms as text, such as `had the tag 'a' and did not have the tag 'b'`.
    private static func text(of terms: [ExpressionDecision.Term]) -> String {
        terms.map { term in
            "\(term.isPresent ? "had" : "did not have") the tag '\(term.tag.spelling)'"
        }.joined(separator: " and ")
    }

    // MARK: Facts

    fileprivate func facts(of notification: Notification) -> [String] {
        var facts: [String] = []
        facts += audience(notification)
        facts += sample
        if isReachedByAnother {
            facts.append(
                "Another registration of the same handle was in the audience, so the device got it anyway.")
        }
        if !isMember, let range { facts.append("Its page was read at \(range.startedAt.iso8601).") }
        facts += deliveryFacts
        facts += tokenFacts
        facts += sinceFacts
        return facts
    }

    private var sample: [String] {
        switch side {
        case nil: []
        case .sample: ["It is in the sample, to which the notification was sent first."]
        case .rest where verdict == .canceled && attempts.isEmpty:
            ["It is not in the sample, and the notification was canceled before it was sent to the rest."]
        case .rest where hasBegun: ["It is not in the sample: it was sent to with the rest, after the sample."]
        case .rest: ["It is not in the sample: it gets the notification when the canary continues."]
        }
    }

    private func audience(_ notification: Notification) -> [String] {
        let kind = registration.template == nil ? "native" : "template"
        let made =
            "The \(kind) registration \(registration.id) for \(registration.platform.rawValue) was first made at "
            + "\(registration.createdAt.iso8601)"
        let until = registration.expiresAt.map { ", to expire at \($0.iso8601)" } ?? ""
        var facts = ["\(made)\(until)."]
        switch (notification.target, decision) {
        case (.direct(let handles), _):
            let isThere = isMember ? "It is in the list of" : "It is not in the list of"
            facts.append("\(isThere) \(handles.count) handle\(handles.count == 1 ? "" : "s") that was sent to.")
        case (.audience(let expression?), let decision?):
            let (sign, means) = decision.matches ? ("matches it", "because it") : ("does not match it", "because it")
            facts.append("The expression '\(expression)' \(sign), \(means) \(Self.text(of: decision.terms)).")
        case (.audience(nil), _?): facts.append("The notification was for everybody on the platform.")
        case (.audience, nil): break
        }
        return facts
    }

    private var deliveryFacts: [String] {
        // Some attempts have the same stored number as the next attempt (`Attempt.number`), so the attempts are
        // numbered again here.
        let first = attempts.first?.number ?? 1
        var facts = attempts.enumerated().map { Self.sentence($1, number: first + $0) }
        if verdict == .delivered, attempts.isEmpty, let range {
            let origins = range.origins.isEmpty ? "" : " by \(range.origins.joined(separator: ", "))"
            facts.append(
                "It was accepted\(origins) at the first attempt, between \(range.startedAt.iso8601) and "
                    + "\(range.endedAt.iso8601).")
        }
        if let retryAt {
            // If the retry was due before the last attempt, it waits only until the lane sends again.
            let isDue = attempts.last.map { retryAt <= $0.at } ?? false
            facts.append(
                isDue
                    ? "The next attempt is due, as soon as \(registration.platform.rawValue) can be sent to again."
                    : "The next attempt is due at \(retryAt.iso8601).")
        }
        if let messageID, verdict == .delivered || !attempts.isEmpty {
            facts.append("Every attempt carries the message id \(messageID).")
        }
        return facts
    }

    private static func sentence(_ attempt: Attempt, number: Int) -> String {
        let start = "Attempt \(number) at \(attempt.at.iso8601): "
        let outcome = "\(attempt.outcome.rawValue)\(reason(attempt.reason))"
        guard let answer = attempt.answer else { return "\(start)not sent, \(outcome)." }
        let way = answer.connection.map { " on connection \($0)" } ?? ""
        guard let status = answer.status else { return "\(start)no answer of \(answer.origin)\(way), \(outcome)." }
        return "\(start)\(answer.origin) answered \(status)\(way), \(outcome)."
    }

    private var tokenFacts: [String] {
        switch fate {
        case .kept: verdict == .refused ? ["The device's handle was kept."] : []
        case .removed:
            switch since?.cause {
            case .unregistered?:
                ["The push service reported the device's handle as dead, so it was removed with its registrations."]
            case nil:
                ["The push service reported the device's handle as dead; it was kept, because it was registered again."]
            default: ["The push service reported the device's handle as dead."]
            }
        case .quarantined:
            [
                "The push service reported the device's handle as dead. It was kept, because so many handles were "
                    + "reported that a wrong credential, topic or environment is as likely."
            ]
        case .moved: ["The push service gave the device another handle, which has replaced the old one."]
        }
    }

    private var sinceFacts: [String] {
        guard let since else { return [] }
        let change =
            switch since.cause {
            case .changed: "changed"
            case .deleted: "removed"
            case .taken: "removed, because another registration took its handle"
            case .unregistered: "removed, because the push service reported its handle as dead"
            case .moved: "given another handle by the push service"
            case .expired: "removed, because it had expired"
            }
        return ["The registration was \(change) at \(since.at.iso8601); the lines above describe it as it was before."]
    }
}
