public import MartletModel

extension FailedPushRecords {
    /// Returns a page of the refusals of a notification.
    /// - Parameters:
    ///   - deliveries: The notification's deliveries with their platforms, in the order of their ids.
    ///   - position: The position at which the previous page ended.
    ///   - limit: The maximum number of refusals in the page.
    public func refusalPage(
        of deliveries: [(id: Delivery.ID, platform: PlatformID)], after position: RefusalPosition, limit: Int
    ) throws(StorageError) -> RefusalPage {
        var page = RefusalPage(records: [], next: nil)
        for (delivery, platform) in deliveries where delivery >= position.delivery {
            let after = delivery == position.delivery ? position.member : .none
            var reader = RefusalReader(self, of: delivery, after: after)
            // Reads one refusal more than the page has room for. If there is one, another page follows.
            while let refusal = try reader.next() {
                guard page.records.count < limit else { return page }
                page.records.append(RefusalRecord(refusal, on: platform))
                page.next = RefusalPosition(delivery: delivery, member: refusal.refusal.member)
            }
        }
        page.next = nil
        return page
    }

    /// Counts the refusals of a notification by outcome and reason, the most frequent first.
    /// - Parameters:
    ///   - lookLimit: The maximum number of refusals that are counted; if there are more, the result is partial.
    ///   - limit: The maximum number of counts in the result.
    public func refusalReasons(
        of deliveries: [(id: Delivery.ID, platform: PlatformID)], lookLimit: Int, limit: Int
    ) throws(StorageError) -> RefusalReasons {
        var counts: [Failure: Int] = [:]
        var left = lookLimit
        var isPartial = false
        for (delivery, _) in deliveries {
            var reader = RefusalReader(self, of: delivery, after: .none)
            while let refusal = try reader.next()?.refusal {
                guard left > 0 else {
                    isPartial = true
                    break
                }
                left -= 1
                counts[Failure(outcome: refusal.outcome.rawValue, reason: refusal.reason), default: 0] += 1
            }
        }
        let sorted = counts.sorted {
            ($1.value, $0.key.outcome, $0.key.reason) < ($0.value, $1.key.outcome, $1.key.reason)
        }
        return RefusalReasons(
            counts: sorted.prefix(limit).map { key, count in
                RefusalReasons.Count(outcome: OutcomeName(rawValue: key.outcome), reason: key.reason, count: count)
            }, isPartial: isPartial || counts.count > limit)
    }
}

/// The outcome and the reason of a refusal.
private struct Failure: Hashable {
    var outcome: String
    var reason: String
}
