import MartletModel

extension PageReader {
    /// Returns those of the given indices whose members no other part of the notification has handled. A member can
    /// match several parts, because its tags may change between the sending of two parts. Such a member is counted in
    /// the part that has handled it.
    /// - Parameter indices: The indices, in the page, of the members to check.
    func excludingHandled(
        _ indices: [Int], of page: AudiencePage, in delivery: Delivery
    ) async throws(StorageError) -> [Int] {
        // Only parts with a second tag expression (`narrowing`) can share members. The sample and the rest of a canary
        // share none.
        guard let part = delivery.part, part.lead != nil, part.narrowing != nil, !indices.isEmpty else {
            return indices
        }
        let handled = try await handled(indices.map { page.members[$0] }, besides: delivery)
        return handled.isEmpty ? indices : indices.filter { !handled.contains(page.members[$0]) }
    }

    /// Returns those of the given members that another part of the notification has handled. A part has handled a
    /// member if it has sent to the member, has given up the push, or will retry the push.
    func handled(
        _ members: [AudienceMember], besides delivery: Delivery
    ) async throws(StorageError) -> Set<AudienceMember> {
        // When a delivery ends, it first stores which members it has reached, and then removes its progress map. So the
        // maps are read first and the store second; otherwise a member could be missed.
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

    /// The state of the other part of a canary. For a delivery to the sample, the other part is the rest. For a
    /// delivery to the rest, the other part is the sample. A retry needs this state, because its registration may have
    /// moved to a device of the other part.
    struct OtherSide: Sendable {
        /// Those of the requested members that the other part has handled (`handled(_:besides:)`).
        var handled: Set<AudienceMember> = []
        /// The progress of the other part; nil if it has not begun.
        var progress: DeliveryProgress?
        var sample: AudienceSample

        /// Returns whether the other part will still send to a member. This is the case if the member belongs to the
        /// other part, and is in none of the pages that the other part has read.
        func willReach(_ member: AudienceMember) -> Bool {
            guard !sample.contains(member.number) else { return false }
            guard let progress else { return sample.side == .sample }
            return !progress.isFannedOut && !progress.state.isFinal && member > progress.cursor
        }
    }

    /// Returns the state of the other part of a canary.
    /// - Parameter members: The members for which to find out whether the other part has handled them.
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
