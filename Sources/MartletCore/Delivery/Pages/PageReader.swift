import MartletModel

/// Finds whom a delivery sends to next: pages of the audience, of a resend, and of retries. Sends and records nothing.
struct PageReader: Sendable {
    let notifications: any NotificationStore
    let deadLetters: any DeadLetterStore
    let devices: any DeviceStore
    let maps: any ProgressMaps
    let time: any TimeSource

    /// - Returns: The page after the cursor, and the cursor once the page is recorded.
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
                AudiencePage(of: handles, after: progress.cursor, limit: limit)
            case .audience(let expression):
                try await devices.audience(
                    AudienceQuery(
                        of: delivery, expression, after: progress.cursor, limit: limit, byteLimit: byteLimit,
                        now: time.now))
            }
        return (page, page.members.last ?? progress.cursor)
    }

    /// Whether there is no device to wait for: most platforms of a template notification have none.
    func isForNoOne(_ progress: DeliveryProgress) async throws(StorageError) -> Bool {
        guard progress.cursor == .none else { return false }
        let (page, _) = try await nextPage(progress, limit: 1)
        return page.count == 0 && page.skipped == 0 && page.isLast
    }

    /// Those members that are still in the audience, with their current handles: a device that was unregistered meanwhile,
    /// or has another user, must not show what was not meant for it.
    /// - Returns: As many as fit, from the first on; it is the last page where all of them do.
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

    /// Only held while something is sent: many deliveries wait at a time, and a map may be an open file.
    /// - Parameter page: What it is asked for: the last page, where no map is there yet, has everybody.
    func map(of delivery: Delivery, _ page: AudiencePage? = nil) throws(StorageError) -> any ProgressMap {
        let count = page.flatMap { $0.isLast ? $0.count : nil }
        return try maps.map(for: delivery.id, through: delivery.lastNumber, expecting: count)
    }

    /// Whom a delivery that ends has reached.
    /// - Parameter page: Its only one, where it has no other, which spares going through the numbers of everybody.
    func reached(
        of delivery: Delivery, _ page: AudiencePage? = nil
    ) throws(StorageError) -> [DeliveredBitmap] {
        if page?.count == 0 { return [] }
        guard let map = try maps.existingMap(for: delivery.id, through: delivery.lastNumber) else { return [] }
        guard let page else { return map.blocks }
        return DeliveredBitmap.blocks(of: page.members.filter(map.contains).map(\.number))
    }

    /// - Returns: The indices of those that no earlier attempt has reached, of which nothing but its bit was left where a
    ///   page was under way when the process ended. The others are counted.
    func unreached(in page: AudiencePage, _ map: any ProgressMap, tally: inout PageTally) -> [Int] {
        let indices = page.members.indices.filter { !map.contains(page.members[$0]) }
        tally.addReached(page.count - indices.count)
        return indices
    }
}
