import MartletHTTP
import MartletModel

extension PageSender {
    /// Pushes of a page that fit into one batch: all go to one origin, and only their handles and bodies differ.
    struct RecipientGroup: Sendable {
        var service: any PushService
        /// The origin of the group's devices; nil if the service has one origin for all devices.
        var origin: HTTPOrigin?
        /// The members of the group, by index in the page.
        var indices: [Int]
        var messages: PageMessages
        /// Whether the devices are suspected stale. Such devices are sent to on a separate connection.
        var areSuspectedStale = false
        /// Devices of the group that are known to fail. A push to such a device tests whether the device can be reached
        /// again.
        var trials: Set<DeviceIdentity> = []
    }

    /// The maximum number of groups of one page that are sent at the same time. Without this concurrency, an origin
    /// that answers slowly would delay the other origins of the page.
    private static let groupsAtOnce = 64
    /// The maximum number of pushes in a group if the page has several origins. Messages that are encoded for each
    /// device, such as Web Push messages, are then encoded on several cores at once.
    private static let groupLimit = 256

    /// Groups members by origin. The messages of all these members must be able to share a batch. A member whose handle
    /// has no valid origin is not sent to, and gets the error of its handle as its outcome.
    func groups(
        _ messages: PageMessages, to indices: [Int], of job: Job, _ service: any PushService, tally: inout PageTally
    ) -> [RecipientGroup] {
        guard type(of: service).handlesAreAddresses else {
            let whole = RecipientGroup(service: service, indices: indices, messages: messages)
            return job.suspectedStale.isEmpty ? [whole] : split(whole, by: job.suspectedStale)
        }
        var groups: [RecipientGroup] = []
        var open: [HTTPOrigin: Int] = [:]
        for index in indices {
            do throws(PushServiceError) {
                let origin = try origin(of: index, of: job, service)
                if let number = open[origin], groups[number].indices.count < Self.groupLimit {
                    groups[number].indices.append(index)
                } else {
                    open[origin] = groups.count
                    groups.append(
                        RecipientGroup(
                            service: service.at(origin), origin: origin, indices: [index], messages: messages))
                }
            } catch {
                tally.addUnsent(Self.outcome(of: error), to: addressee(index, of: job))
            }
        }
        return groups
    }

    /// Returns the service at the origin of the first member that has a valid origin. With this service, the requests
    /// for different messages can be compared. Returns nil if no member has a valid origin.
    func sampleService(_ service: any PushService, for indices: [Int], of job: Job) -> (any PushService)? {
        guard type(of: service).handlesAreAddresses else { return service }
        for index in indices {
            if let origin = try? origin(of: index, of: job, service) { return service.at(origin) }
        }
        return nil
    }

    private func origin(
        of index: Int, of job: Job, _ service: any PushService
    ) throws(PushServiceError) -> HTTPOrigin {
        try job.page.withHandle(index) { handle throws(PushServiceError) in try service.origin(of: handle) }
    }

    /// Sends the groups of a page, at most `groupsAtOnce` at the same time.
    func send(_ groups: [RecipientGroup], of job: Job, tally: inout PageTally) async {
        let empty = tally.emptied()
        if let only = groups.first, groups.count == 1 {
            var own = empty
            await send(only, of: job, tally: &own)
            return tally.merge(own, of: Self.application(of: only))
        }
        await withTaskGroup(of: (String, PageTally).self) { tasks in
            for (number, group) in groups.enumerated() {
                if number >= Self.groupsAtOnce, let (application, done) = await tasks.next() {
                    tally.merge(done, of: application)
                }
                tasks.addTask {
                    var own = empty
                    await send(group, of: job, tally: &own)
                    return (Self.application(of: group), own)
                }
            }
            for await (application, done) in tasks { tally.merge(done, of: application) }
        }
    }

    /// Returns the application to which the results of a group are attributed (`PushService.application`). For an
    /// origin that devices have chosen, the origin itself is used, because a success at one such origin proves nothing
    /// about another.
    static func application(of group: RecipientGroup) -> String {
        if let origin = group.origin { return origin.description }
        return group.indices.first.map { group.service.application(of: group.messages[$0]) } ?? ""
    }
}
