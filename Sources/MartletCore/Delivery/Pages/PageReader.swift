import MartletModel

/// Finds the members that a delivery sends to next: the pages of an audience, of a resend, or of a round of retries.
/// The reader neither sends nor records anything.
struct PageReader: Sendable {
    let notifications: any NotificationStore
    let deadLetters: any DeadLetterStore
    let devices: any DeviceStore
    let maps: any ProgressMaps
    let messageIDs: MessageIDKey
    let time: any TimeSource

    /// Reads the next page of a delivery.
    /// - Returns: The page after the cursor, and the cursor to store once the page is recorded.
    func nextPage(
        _ progress: DeliveryProgress, limit: Int, byteLimit: Int = AudiencePage.byteLimit
    ) async throws(StorageError) -> (AudiencePage, last: AudienceMember) {
        let delivery = progress.delivery
        if delivery.notification.resend != nil {
            let dead = try await deadLetters.resendMembers(of: delivery, after: progress.cursor, limit: limit)
            var page = try await page(of: dead.members, delivery, byteLimit: byteLimit)
            if !page.isLast, let last = page.members.last { return (page, last) }
            page.isLast = dead.isLast
            return (page, dead.last)
        }
        let page: AudiencePage =
            switch delivery.notification.target {
            case .direct(let handles):
                AudiencePage(
                    of: handles, after: progress.cursor, limit: limit,
                    sample: delivery.part.flatMap { AudienceSample($0, sampleHash(of: delivery)) })
            case .audience(let expression):
                try await devices.audience(
                    query(of: delivery, expression, after: progress.cursor, limit: limit, byteLimit: byteLimit))
            }
        return (page, page.stoppedAt ?? page.members.last ?? progress.cursor)
    }

    private func query(
        of delivery: Delivery, _ expression: TagExpression?, after: AudienceMember, limit: Int, byteLimit: Int
    ) -> AudienceQuery {
        var query = AudienceQuery(
            of: delivery, expression, after: after, limit: limit, byteLimit: byteLimit, now: time.now)
        if let part = delivery.part { query.narrow(to: part, sampleHash(of: delivery)) }
        return query
    }

    func sampleHash(of delivery: Delivery) -> SampleHash { messageIDs.sampleHash(of: delivery.notification.id) }

    /// Returns whether the audience is empty; false if a page was already sent. A delivery with an empty audience ends
    /// even while its lane is paused. Such deliveries are frequent, because a template notification has no devices on
    /// most platforms.
    func isAudienceEmpty(_ progress: DeliveryProgress) async throws(StorageError) -> Bool {
        guard progress.cursor == .none else { return false }
        let (page, _) = try await nextPage(progress, limit: 1)
        return page.count == 0 && page.skipped == 0 && page.isLast
    }

    /// Returns a page of those given members that are still in the audience, with their current handles. The members
    /// are looked up again, because a device may have been unregistered or have another user by now. Such a device must
    /// not show a notification that is not meant for it.
    /// - Returns: The members that fit in the page, starting with the first; `isLast` is true if all members fit.
    func page(
        of members: [AudienceMember], _ delivery: Delivery, byteLimit: Int = AudiencePage.byteLimit
    ) async throws(StorageError) -> AudiencePage {
        let members = members.sorted()
        switch delivery.notification.target {
        case .direct(let handles):
            return AudiencePage(of: handles, among: members)
        case .audience(let expression):
            var query = AudienceQuery(
                of: delivery, expression, limit: members.count, byteLimit: byteLimit, now: time.now)
            query.among = members
            return try await devices.audience(query)
        }
    }

    // MARK: Progress

    /// Returns the progress map of a delivery, and creates it if there is none. A map may be an open file, and many
    /// deliveries wait at a time. Therefore callers keep the map only while they send pushes.
    /// - Parameter page: The page that needs the map. If it is the last page and no map exists yet, the map is created
    ///   for the members of this page only.
    func map(of delivery: Delivery, _ page: AudiencePage? = nil) throws(StorageError) -> any ProgressMap {
        let count = page.flatMap { $0.isLast ? $0.count : nil }
        return try maps.map(for: delivery.id, through: delivery.lastNumber, expecting: count)
    }

    /// Returns the progress map of a delivery; nil if nothing of it was sent yet.
    func existingMap(of delivery: Delivery) throws(StorageError) -> (any ProgressMap)? {
        try maps.existingMap(for: delivery.id, through: delivery.lastNumber)
    }

    /// Returns the members that a delivery has reached. They are stored when the delivery ends.
    /// - Parameter page: The only page of the delivery; only the members of this page are then looked up in the
    ///   progress map. nil if the delivery has several pages.
    func reached(
        of delivery: Delivery, _ page: AudiencePage? = nil
    ) throws(StorageError) -> [DeliveredBitmap] {
        if page?.count == 0 { return [] }
        guard let map = try existingMap(of: delivery) else { return [] }
        guard let page else { return map.blocks }
        return DeliveredBitmap.blocks(of: page.members.filter(map.contains).map(\.number))
    }

    /// Counts the members of a page that were already reached. If the process ended while the page was being sent,
    /// these successes are recorded only as bits in the progress map.
    /// - Returns: The indices, in the page, of the members that were not reached.
    func unreached(
        in page: AudiencePage, of delivery: Delivery, tally: inout PageTally
    ) throws(StorageError) -> [Int] {
        guard let map = try existingMap(of: delivery) else { return Array(page.members.indices) }
        let indices = page.members.indices.filter { !map.contains(page.members[$0]) }
        tally.addReached(page.count - indices.count)
        return indices
    }
}
