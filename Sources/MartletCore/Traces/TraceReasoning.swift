import MartletModel

/// Derives the trace of a notification for the registrations of a device from stored records. Does no I/O.
struct TraceReasoning: Sendable {
    let traced: TracedNotification
    let past: RegistrationPast
    let platforms: PushPlatformList
    let messageIDs: MessageIDKey

    private var notification: Notification { traced.notification }
    /// When the send began; for a send that was not scheduled, the time at which it was accepted.
    private var begunAt: Timestamp { traced.begunAt ?? notification.acceptedAt }

    // MARK: Members to look up

    /// Returns the members whose records in a delivery may concern a version of the device's registrations, without
    /// duplicates.
    func members(in delivery: Delivery) -> [AudienceMember] {
        var seen: Set<AudienceMember> = []
        return past.versions.compactMap { member($0, in: delivery) }.filter { seen.insert($0).inserted }
    }

    private func member(_ version: RegistrationVersion, in delivery: Delivery) -> AudienceMember? {
        guard isAddressed(version, by: delivery) else { return nil }
        guard case .direct(let handles) = notification.target else { return version.member }
        guard let platform = platforms[delivery.platform], let key = try? platform.key(of: version.handle),
            let index = handles.firstIndex(where: { (try? platform.key(of: $0)) == key })
        else { return nil }
        let member = AudienceMember(channel: .none, registration: Int64(index) + 1)
        return isOnSide(member, of: delivery) ? member : nil
    }

    /// Returns true if a member is on the side of the canary to which a delivery sends, or if the delivery is not
    /// limited to one side.
    private func isOnSide(_ member: AudienceMember, of delivery: Delivery) -> Bool {
        delivery.part.flatMap { AudienceSample($0, messageIDs.sampleHash(of: notification.id)) }?
            .contains(member.number) ?? true
    }

    /// Returns true if a delivery is for the platform, the kind and the canary side of a registration. For a direct
    /// send, only the platform is compared, because a handle may have registrations of both kinds.
    private func isAddressed(_ version: RegistrationVersion, by delivery: Delivery) -> Bool {
        guard isOfKind(version, delivery) else { return false }
        if case .direct = notification.target { return true }
        return isOnSide(version.member, of: delivery)
    }

    private func isOfKind(_ version: RegistrationVersion, _ delivery: Delivery) -> Bool {
        guard version.platform == delivery.platform else { return false }
        if case .direct = notification.target { return true }
        return (version.template != nil) == delivery.isOfTemplates
    }

    // MARK: Conclusions

    /// Returns one trace for each registration of the device.
    /// - Parameter evidence: The records of `members(in:)` for each delivery. Their `isReached` includes the progress
    ///   maps of unfinished deliveries.
    func pushes(_ evidence: [Delivery.ID: DeliveryEvidence]) -> [PushTrace] {
        var sequences: [Int64] = []
        for version in past.versions where !sequences.contains(version.sequence) { sequences.append(version.sequence) }
        return sequences.map { sequence in
            let versions = past.versions.filter { $0.sequence == sequence }
            let found = traced.deliveries.compactMap { progress -> PushTrace? in
                guard versions.contains(where: { isAddressed($0, by: progress.delivery) }) else { return nil }
                let id = progress.delivery.id
                var found = push(versions, evidence[id] ?? DeliveryEvidence(progress: progress))
                if progress.delivery.part?.threshold != nil { found.side = progress.delivery.part?.side }
                // The delivery of a waiting rest is not stored. `addWaitingRest` has given it a negative id, so it has
                // not begun.
                found.hasBegun = id.rawValue > 0
                return found
            }
            return combined(found, versions) ?? unaddressed(versions)
        }
    }

    /// Chooses one of the traces of a registration in the deliveries for its platform; nil if there is no trace. There
    /// are several traces if the notification is a canary and the registration has had handles on both sides.
    private func combined(_ found: [PushTrace], _ versions: [RegistrationVersion]) -> PushTrace? {
        let own = found.filter { !$0.wasOnOtherSide }
        guard var best = own.min(by: { $0.verdict.rank < $1.verdict.rank }) else {
            // The handle changed between the pages of the sample and the pages of the rest, so that no page contained
            // the registration. Returns the trace for the side on which the registration was when the notification
            // began.
            let first = version(of: versions, at: begunAt)
            return found.first { trace in
                traced.deliveries.contains {
                    $0.delivery.part?.side == trace.side && isAddressed(first, by: $0.delivery)
                }
            } ?? found.first
        }
        // If the push of the rest reached the registration's current handle, the retry of the sample's push was given
        // up for that reason. The trace then shows the attempts of the sample's push.
        if best.verdict == .delivered, best.side == .rest,
            let sample = own.first(where: { $0.side == .sample && !$0.attempts.isEmpty })
        {
            best = sample
            best.verdict = .delivered
            best.isReachedByAnother = true
        }
        return best
    }

    /// Returns the trace of a registration for which the notification has no delivery, or none yet.
    private func unaddressed(_ versions: [RegistrationVersion]) -> PushTrace {
        let version = version(of: versions, at: traced.begunAt ?? .distantFuture)
        guard let begun = traced.begunAt else {
            return PushTrace(traced.control == .canceled ? .canceled : .scheduled, version)
        }
        let isOfKind: Bool =
            switch notification.content {
            case .native(let platform, _): version.platform == platform && version.template == nil
            case .template: version.template != nil
            case .message(let content): version.template == nil && !content.omits(version.platform)
            }
        guard isOfKind else { return PushTrace(.notAddressed, version) }
        return PushTrace(version.createdAt > begun ? .registeredLater : .removedBefore, version)
    }

    /// Returns the version that was current at a time; the last version if the registration was gone by then.
    private func version(of versions: [RegistrationVersion], at timestamp: Timestamp) -> RegistrationVersion {
        versions.first { $0.end.map { $0.at > timestamp } ?? true } ?? versions[versions.count - 1]
    }

    // MARK: One registration in one delivery

    private func push(_ versions: [RegistrationVersion], _ evidence: DeliveryEvidence) -> PushTrace {
        let delivery = evidence.progress.delivery
        if case .direct = notification.target { return direct(versions, evidence) }
        let candidates = versions.filter { isAddressed($0, by: delivery) }
        let readings = candidates.compactMap { version in
            reading(of: version, member(version, in: delivery).flatMap { evidence.members[$0] }, delivery)
        }
        if let best = readings.min(by: { $0.verdict.rank < $1.verdict.rank }) { return best }
        let ranges = candidates.compactMap { evidence.members[$0.member]?.range }
        guard let range = ranges.last else { return unread(versions, candidates, evidence) }
        return absent(versions, candidates, range, delivery)
    }

    /// Returns the trace of a registration from one of its versions; nil if that version was not current when its page
    /// was read.
    private func reading(
        of version: RegistrationVersion, _ found: MemberEvidence?, _ delivery: Delivery
    ) -> PushTrace? {
        guard let found else { return nil }
        guard let range = found.range, past.versions(at: range.snapshot).contains(where: { $0.isSame(as: version) })
        else {
            // The process may have ended while the page was in progress. The page was then read again, so its record is
            // of a later snapshot. Only the records of the member show the first reading, so they alone decide.
            guard found.isTouched, version.template != nil || isAloneInTouching(version, found) else { return nil }
            return outcome(version, found, delivery)
        }
        guard range.snapshot.change >= past.knownSince || found.isTouched else {
            return PushTrace(.unknown, version).with(range)
        }
        guard case .audience(let expression) = notification.target else { return nil }
        let decision = ExpressionDecision(of: expression, on: Set(version.tags))
        var push: PushTrace
        if isAfter(delivery.bounds, version, delivery) {
            push = PushTrace(hadAnotherHandle(version, delivery) ? .missed : .registeredLater, version)
        } else if !decision.matches {
            push = PushTrace(.excluded, version)
            push.isReachedByAnother = found.isTouched && version.template == nil
            push.decision = decision
        } else if let end = version.expiresAt, end <= range.startedAt {
            push = PushTrace(.lapsed, version)
        } else {
            push = outcome(version, found, delivery)
            push.decision = decision
        }
        return push.with(range)
    }

    /// Returns true if the records of a channel may concern this version of a registration, although no page with the
    /// channel is recorded. The channel may have several registrations, and the records may be about any of them.
    /// Therefore a version is excluded if it was not current when the send began, or if its tags do not match the
    /// expression.
    private func isAloneInTouching(_ version: RegistrationVersion, _ found: MemberEvidence) -> Bool {
        guard case .audience(let expression) = notification.target else { return false }
        let isThen = version.end.map { $0.at > begunAt } ?? true
        return found.range == nil && isThen && (expression?.matches(Set(version.tags)) ?? true)
    }

    /// Returns true if the registration existed when the send began, with a handle that was replaced before its page
    /// was read.
    private func hadAnotherHandle(_ version: RegistrationVersion, _ delivery: Delivery) -> Bool {
        guard !delivery.isOfTemplates, let begun = traced.begunAt else { return false }
        return past.versions.contains { other in
            other.sequence == version.sequence && other.channel <= delivery.bounds.channel
                && other.end.map { $0.at >= begun } ?? false
        }
    }

    private func isAfter(_ bounds: AudienceBounds, _ version: RegistrationVersion, _ delivery: Delivery) -> Bool {
        delivery.isOfTemplates ? version.sequence > bounds.registration : version.channel > bounds.channel
    }

    /// Returns the trace of a registration if no page has been read that could have contained it.
    private func unread(
        _ versions: [RegistrationVersion], _ candidates: [RegistrationVersion], _ evidence: DeliveryEvidence
    ) -> PushTrace {
        let last = versions[versions.count - 1]
        if let end = last.end, end.cause.isRemoval { return PushTrace(.removedBefore, last) }
        let version = candidates[candidates.count - 1]
        let verdict: TraceVerdict =
            switch evidence.progress.state {
            case .abandoned: .expired
            case let state: state.isFinal ? .unknown : .pending
            }
        var push = PushTrace(verdict, version)
        if isAfter(evidence.progress.delivery.bounds, version, evidence.progress.delivery) {
            push.verdict = .registeredLater
        } else if case .audience(let expression) = notification.target {
            push.decision = ExpressionDecision(of: expression, on: Set(version.tags))
            if push.decision?.matches == false { push.verdict = .excluded }
        }
        return push
    }

    /// Returns the trace of a registration if pages were read that could have contained it, but no page did.
    private func absent(
        _ versions: [RegistrationVersion], _ candidates: [RegistrationVersion], _ range: RangeRecord,
        _ delivery: Delivery
    ) -> PushTrace {
        let last = candidates[candidates.count - 1]
        if range.snapshot.change < past.knownSince { return PushTrace(.unknown, last).with(range) }
        if last.sequence > range.snapshot.registration { return PushTrace(.registeredLater, last).with(range) }
        let then = past.versions(at: range.snapshot).first { $0.sequence == last.sequence }
        guard let then else { return PushTrace(.removedBefore, versions[versions.count - 1]).with(range) }
        guard candidates.contains(where: { $0.isSame(as: then) }) || isOfKind(then, delivery) else {
            return PushTrace(.notAddressed, then).with(range)
        }
        var push = PushTrace(.missed, then).with(range)
        push.wasOnOtherSide = !isAddressed(then, by: delivery)
        return push
    }

    private func direct(_ versions: [RegistrationVersion], _ evidence: DeliveryEvidence) -> PushTrace {
        let delivery = evidence.progress.delivery
        let named = versions.filter { member($0, in: delivery) != nil }
        guard !named.isEmpty else {
            return PushTrace(.excluded, version(of: versions, at: begunAt))
        }
        let version = version(of: named, at: begunAt)
        let found = member(version, in: delivery).flatMap { evidence.members[$0] } ?? MemberEvidence()
        var push = outcome(version, found, delivery)
        push.range = found.range
        if found.range == nil, evidence.progress.state.isFinal, push.verdict == .pending { push.verdict = .expired }
        return push
    }

    /// Returns the trace of a version that was a member, from the member's records.
    private func outcome(
        _ version: RegistrationVersion, _ found: MemberEvidence, _ delivery: Delivery
    ) -> PushTrace {
        var push = PushTrace(verdict(of: found, delivery), version)
        push.attempts = found.attempts
        if let refusal = found.refusal {
            // The refusal of an abandoned push is not an attempt. The last attempt of the push is already in the list.
            if refusal.outcome == .abandoned {
                push.givenUpAt = refusal.at
            } else if found.hadDevice {
                push.attempts.append(Attempt(refusal))
            }
        }
        push.fate = push.attempts.last?.fate ?? .kept
        push.retryAt = traced.control.isHeld ? nil : found.retry?.dueAt
        if push.verdict == .notAddressed {
            push.hadNoDeadLetter = true
            return push
        }
        if let member = member(version, in: delivery) {
            push.messageID = messageIDs.ids(of: notification.id)[member]
        }
        return push
    }

    private func verdict(of found: MemberEvidence, _ delivery: Delivery) -> TraceVerdict {
        if found.isReached { return .delivered }
        if let refusal = found.refusal {
            if refusal.outcome == .abandoned { return .expired }
            guard found.hadDevice else { return .left }
            return refusal.answer == nil ? .suppressed : .refused
        }
        if let retry = found.retry { return retry.outcome == .held ? .pending : .retrying }
        if let last = found.attempts.last {
            if last.outcome == .superseded || last.outcome == .skipped { return .suppressed }
            return isCanceled(delivery) ? .canceled : .expired
        }
        guard let range = found.range else { return .pending }
        if notification.resend != nil { return .notAddressed }
        return switch Set(range.reasons.keys) {
        case []: isCanceled(delivery) ? .canceled : .unknown
        case [.canceled]: .canceled
        case [.abandoned]: .expired
        default: .suppressed
        }
    }

    private func isCanceled(_ delivery: Delivery) -> Bool {
        traced.deliveries.contains { $0.delivery.id == delivery.id && $0.state == .canceled }
    }
}

extension MemberEvidence {
    /// True if there are records of the member itself, not only a record of its page.
    fileprivate var isTouched: Bool { isReached || refusal != nil || retry != nil || !attempts.isEmpty }

    /// False if the refusal only records that a retry found no device.
    fileprivate var hadDevice: Bool { refusal?.handle != nil }
}

extension RegistrationVersion {
    fileprivate func isSame(as other: RegistrationVersion) -> Bool {
        sequence == other.sequence && end?.change == other.end?.change
    }
}

extension PushTrace {
    fileprivate func with(_ range: RangeRecord) -> PushTrace {
        var push = self
        push.range = range
        return push
    }
}

extension Attempt {
    /// Creates the last attempt of a push from its refusal.
    fileprivate init(_ refusal: Refusal) {
        self.init(
            member: refusal.member, number: refusal.attempts, outcome: refusal.outcome, reason: refusal.reason,
            answer: refusal.answer, at: refusal.at, fate: refusal.fate)
    }
}
