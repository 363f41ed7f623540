import MartletModel

extension AudienceQuery {
    /// Creates a query for a page of the audience of a delivery. Registrations that were created after the delivery
    /// began are not in the audience. If the delivery is for a part, the query selects from the audience of the whole
    /// notification; call `narrow` to restrict it to the part.
    init(
        of delivery: Delivery, _ expression: TagExpression?, after: AudienceMember = .none, limit: Int,
        byteLimit: Int = AudiencePage.byteLimit, now: Timestamp
    ) {
        let kind: Kind =
            switch delivery.notification.content {
            case .native, .message: .native
            case .template: .template
            }
        self.init(
            hub: delivery.notification.hub, platform: delivery.platform, kind: kind, expression: expression,
            after: after, throughChannel: delivery.bounds.channel, throughRegistration: delivery.bounds.registration,
            limit: limit, byteLimit: byteLimit, now: now)
        if case .message(let content) = delivery.notification.content, content.hasVariants {
            variants = AudienceVariants(languages: content.languages, readsVariables: content.usesVariables)
        }
    }
}

extension AudienceQuery {
    /// Restricts the query to the members of a part.
    mutating func narrow(to part: DeliveryPart, _ hash: SampleHash) {
        if let narrowing = part.narrowing { expression = expression.map { .and([$0, narrowing]) } ?? narrowing }
        sample = AudienceSample(part, hash)
    }
}

extension AudienceSample {
    /// Creates the selection of the members that a part of a canary sends to: either the sample or the rest.
    /// - Returns: nil if the part does not belong to a canary, or if the threshold of the sample is not known yet.
    init?(_ part: DeliveryPart, _ hash: SampleHash) {
        guard let side = part.side, let threshold = part.threshold else { return nil }
        self.init(hash: hash, threshold: threshold, side: side)
    }
}

extension AudiencePage {
    /// Creates a page of a direct send. The registration number of each member is the position of its handle in the
    /// list of handles, counted from 1.
    /// - Parameter sample: Selects only the members in the sample, or only those in the rest; nil selects all members.
    init(of handles: [PushHandle], after cursor: AudienceMember, limit: Int, sample: AudienceSample? = nil) {
        let start = Int(cursor.registration)
        let end = min(handles.count, start + limit)
        let members = (start..<max(start, end)).map { Self.member($0) }
        self.init(of: handles, among: members.filter { sample?.contains($0.number) ?? true })
        isLast = end >= handles.count
        if sample != nil { stoppedAt = members.last }
    }

    /// Creates a page of the given members of a direct send.
    init(of handles: [PushHandle], among members: [AudienceMember]) {
        self.init()
        for member in members {
            let index = Int(member.registration) - 1
            guard handles.indices.contains(index) else { continue }
            var text = handles[index].text
            text.withUTF8 { append(member, handle: $0) }
        }
    }

    private static func member(_ index: Int) -> AudienceMember {
        AudienceMember(channel: .none, registration: Int64(index) + 1)
    }
}
