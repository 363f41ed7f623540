import MartletModel

extension PageReader {
    /// Returns the indices of a page without the members that another part of the notification has already handled.
    /// Such members match both parts, because their tags have changed in the meantime. They are counted in the other
    /// part.
    /// - Parameter indices: The indices to choose from.
    func excludingHandled(
        _ indices: [Int], of page: AudiencePage, in delivery: Delivery
    ) async throws(StorageError) -> [Int] {
        // Sample and rest share no members.
        guard let part = delivery.part, part.lead != nil, part.narrowing != nil, !indices.isEmpty else {
            return indices
        }
        let handled = try await handled(indices.map { page.members[$0] }, besides: delivery)
        return handled.isEmpty ? indices : indices.filter { !handled.contains(page.members[$0]) }
    }

    /// Returns those members of a part that another part has already handled.
    func handled(
        _ members: [AudienceMember], besides delivery: Delivery
    ) async throws(StorageError) -> Set<AudienceMember> {
        // The progress maps are read before the store: a delivery that ends stores its members before it removes its
        // map.
        var handled: Set<AudienceMember> = []
        for sibling in try await siblings(of: delivery) where !sibling.state.isFinal {
            let map = try maps.existingMap(for: sibling.delivery.id, through: sibling.delivery.lastNumber)
            if let map { handled.formUnion(members.filter(map.contains)) }
        }
        return handled.union(try await notifications.handled(members, besides: delivery))
    }

    /// Returns the other deliveries of the notification on the same platform.
    private func siblings(of delivery: Delivery) async throws(StorageError) -> [DeliveryProgress] {
        try await notifications.deliveries(of: delivery.notification.sequence, on: delivery.platform)
            .filter { $0.delivery.id != delivery.id }
    }

    /// The state of the other part of a canary (the rest for the sample, the sample for the rest), which is needed for
    /// a retry whose registration may have moved to a device of the other part.
    struct OtherSide: Sendable {
        /// The members that the other part has already handled.
        var handled: Set<AudienceMember> = []
        /// The progress of the other part; nil if it has not begun.
        var progress: DeliveryProgress?
        var sample: AudienceSample

        /// Returns whether a member belongs to the other part and the page with this member was not read yet.
        func willReach(_ member: AudienceMember) -> Bool {
            guard !sample.contains(member.number) else { return false }
            guard let progress else { return sample.side == .sample }
            return !progress.isFannedOut && !progress.state.isFinal && member > progress.cursor
        }
    }

    /// Returns the state of the other part of a canary.
    /// - Parameter members: The members by which the other part may reach the registrations of the retries.
    /// - Returns: nil if the delivery does not belong to a canary.
    func otherSide(
        of delivery: Delivery, _ members: [AudienceMember]
    ) async throws(StorageError) -> OtherSide? {
        guard let part = delivery.part, let sample = AudienceSample(part, sampleHash(of: delivery)) else { return nil }
        var other = OtherSide(sample: sample)
        other.progress = try await siblings(of: delivery).first
        other.handled = try await handled(members, besides: delivery)
        return other
    }
}
