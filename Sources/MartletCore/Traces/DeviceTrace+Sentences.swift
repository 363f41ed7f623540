import MartletModel

extension DeviceTrace {
    /// The explanation of the trace for users: the verdict first, then a sentence for each fact.
    public var sentences: [String] {
        guard let first = pushes.first else {
            return [
                "Unknown device: no registration or installation '\(device)' is known in this hub, nor was one as far back "
                    + "as is remembered."
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
        let due = notification.dueAt.map { ", to go out at \($0.iso8601)" } ?? ""
        let isGoingOn = pushes.contains { [.retrying, .pending, .scheduled].contains($0.verdict) }
        let until = ", and \(control.isHeld ? "expires at" : "is tried until") \(notification.expiresAt.iso8601)"
        return ["\(timestamp)\(due)\(isGoingOn ? until : "")."] + origin.sentences + controlled
    }

    private var controlled: [String] {
        let since = controlledAt.map { " at \($0.iso8601)" } ?? ""
        return switch control {
        case .running: []
        case .paused: ["It was paused\(since): nothing more of it is sent until it is resumed."]
        case .halted:
            [
                "It has halted itself\(since), because more of it failed than its roll-out allows: nothing more is sent "
                    + "until it is resumed."
            ]
        case .canceled: ["It was canceled\(since): devices that had not been sent it by then got nothing."]
        }
    }

    private var receiptSentences: [String] {
        if receipts.isEmpty {
            guard verdict == .delivered else { return [] }
            return ["Whether the device received it is not known: it has sent no receipt."]
        }
        return receipts.map { "The device said that it was \($0.event.rawValue) at \($0.at.iso8601)." }
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
        case .delivered: return "Delivered: \(service) took it for the device."
        case .retrying:
            guard trace.control.isHeld else { return "Still being tried: it failed so far and is sent again." }
            return "It failed so far; its next attempt waits until the notification is resumed."
        case .pending: return "Not sent yet: its turn has not come, or is just now."
        case .scheduled: return "Not sent yet: the notification waits for its time."
        case .refused:
            let attempt = attempts.last
            return "Refused: \(attempt?.outcome.rawValue ?? "")\(attempt.map { Self.reason($0.reason) } ?? "")."
        case .expired:
            let end = trace.notification.expiresAt
            guard let givenUpAt, givenUpAt < end else {
                return "Given up: the notification expired at \(end.iso8601), before it could be delivered."
            }
            return "Given up: the next attempt would have come after it expires at \(end.iso8601)."
        case .suppressed: return "Not sent: \(suppressionReason)"
        case .left: return "Given up: when it was to be tried again, the registration was not in the audience any more."
        case .excluded: return "Not in the audience: \(exclusion)"
        case .notAddressed: return "Not in the audience: it was for another platform or kind of registration."
        case .lapsed: return "Not in the audience: the registration had expired."
        case .missed:
            return "Not in the audience: the device got another handle before its page was read, and was in no page."
        case .registeredLater: return "Not in the audience: the registration was made too late for it."
        case .removedBefore: return "Not in the audience: the registration was gone before its turn came."
        case .canceled:
            guard !attempts.isEmpty else {
                return "Not sent: the notification was canceled before the device's turn."
            }
            let number = attempts.count == 1 ? "1 attempt" : "\(attempts.count) attempts"
            return "Not tried again: the notification was canceled after \(number)."
        case .unknownDevice: return "Unknown device."
        case .unknown: return "Not known: what would tell is not kept any more."
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
        guard let decision else { return "its handle is none of those that the notification was sent to." }
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
                "Another registration of the same handle was in the audience, so the device got it all the same.")
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
        case .sample: ["It is in the sample, whose turn came first."]
        case .rest where verdict == .canceled && attempts.isEmpty:
            ["It is not in the sample, and the notification was canceled before the turn of the others."]
        case .rest where hasBegun: ["It is not in the sample: its turn came when the canary had gone on."]
        case .rest: ["It is not in the sample: it gets the notification when the canary goes on."]
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
            let (sign, means) = decision.matches ? ("means it", "because it") : ("does not mean it", "because it")
            facts.append("The expression '\(expression)' \(sign), \(means) \(Self.text(of: decision.terms)).")
        case (.audience(nil), _?): facts.append("The notification was for everybody on the platform.")
        case (.audience, nil): break
        }
        return facts
    }

    private var deliveryFacts: [String] {
        var facts = attempts.map(Self.sentence)
        if verdict == .delivered, attempts.isEmpty, let range {
            let origins = range.origins.isEmpty ? "" : " by \(range.origins.joined(separator: ", "))"
            facts.append(
                "It was accepted\(origins) at the first attempt, between \(range.startedAt.iso8601) and "
                    + "\(range.endedAt.iso8601).")
        }
        if let retryAt { facts.append("It is to be tried again at \(retryAt.iso8601).") }
        if let messageID, verdict == .delivered || !attempts.isEmpty {
            facts.append("Every attempt carries the message id \(messageID).")
        }
        return facts
    }

    private static func sentence(_ attempt: Attempt) -> String {
        let start = "Attempt \(attempt.number) at \(attempt.at.iso8601): "
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
                ["The service called the device's handle dead, so it was removed with its registrations."]
            case nil:
                ["The service called the device's handle dead; it was kept, because it had been registered again."]
            default: ["The service called the device's handle dead."]
            }
        case .quarantined:
            [
                "The service called the device's handle dead. It was kept, because so many were called dead that a wrong "
                    + "credential, topic or environment is as likely."
            ]
        case .moved: ["The service gave the device another handle, which was put in the old one's place."]
        }
    }

    private var sinceFacts: [String] {
        guard let since else { return [] }
        let change =
            switch since.cause {
            case .changed: "changed"
            case .deleted: "removed"
            case .taken: "removed, because another registration took its handle"
            case .unregistered: "removed, because the push service called its handle dead"
            case .moved: "given another handle by the push service"
            case .expired: "removed, because it had expired"
            }
        return ["The registration was \(change) at \(since.at.iso8601); what is told here is how it was before."]
    }
}
