import MartletHTTP
import MartletModel

/// Sends the pushes of one page, group by group, and tallies their outcomes.
///
/// The pushes of a group are sent in one batch. Requests that the service did not process are sent again at once, in a
/// second and third batch on another connection. If the service refuses a token, the token is renewed once. Every other
/// failure is left to the retries of the delivery.
struct PageSender: Sendable {
    /// The maximum number of batches for a group. Batches that repeat unprocessed requests are included.
    private static let roundLimit = 3

    let transport: any HTTPTransport
    let authorizations: AuthorizationCache
    let lanes: LaneCircuitBreakers
    let origins: OriginCircuitBreakers
    let suspectedStale: SuspectedStaleDevices
    let paces: SendingRateLimits
    let messageIDs: MessageIDKey
    var requestTimeout: Duration
    /// Whether the answer to each accepted push is read in full instead of only counted. Test sends need the full
    /// answers.
    var readsSuccesses = false
    let time: any TimeSource
    let metrics: DeliveryMetrics
    let templates = CompiledTemplates()
    let failing = FailingServices()

    /// A page, with everything that is needed to build and send its requests.
    struct Job: Sendable {
        var delivery: Delivery
        var credential: Credential
        var sending: SendContext.Sending
        var page: AudiencePage
        /// The number of earlier attempts of each push, by index in the page; empty if the page has only first
        /// attempts.
        var attempts: [Int]
        /// The progress map of the delivery. Until sending begins, and for a test send, it has no members.
        var map: any ProgressMap
        /// The indices of the suspected stale devices in the page. These devices are sent to on a separate connection.
        var suspectedStale: Set<Int> = []
        /// The signal that stops the job; nil if nothing can stop it.
        var stop: StopSignal?
        /// Whether the page is the probe of its paused lane.
        var isProbe: Bool
        /// Whether the pushes of the page may have waited on purpose, for example while the notification was paused, or
        /// for the rate of a roll-out.
        var hasWaitedOnPurpose = false
        /// Counts the pushes of the page that wait for the sending rate; nil for retries.
        var unsent: UnsentPushes?

        var isStopped: Bool { stop?.isStopped ?? false }

        /// Creates a job for a page of first attempts.
        init(
            _ delivery: Delivery, _ lane: SendContext, page: AudiencePage, stop: StopSignal? = nil
        ) {
            self.stop = stop
            self.delivery = delivery
            credential = lane.credential ?? Credential([:])
            sending = lane.sending
            isProbe = lane.isProbe
            self.page = page
            attempts = []
            map = NoProgress()
        }
    }

    /// Sends one group. If its service has a sending rate, the group is sent in portions.
    func send(_ group: RecipientGroup, of job: Job, tally: inout PageTally) async {
        guard let pace = group.service.pace else { return await sendAtOnce(group, of: job, tally: &tally) }
        await send(group, of: job, within: pace, tally: &tally)
    }

    /// Sends to the devices of a group that may be sent to now.
    func sendAtOnce(_ group: RecipientGroup, of job: Job, tally: inout PageTally) async {
        if let origin = group.origin {
            await send(group, to: origin, of: job, tally: &tally)
        } else {
            await sendToDevices(of: group, of: job, tally: &tally)
        }
    }

    /// Sends to the devices of a group, except to failing devices that must not be sent to now.
    func sendToDevices(of group: RecipientGroup, of job: Job, tally: inout PageTally) async {
        var group = group
        let admission = admit(&group, of: job, tally: &tally)
        if !group.indices.isEmpty { await sendApart(group, of: job, tally: &tally) }
        if let admission { lanes.end(admission, in: job.delivery.lane, at: time.now) }
    }

    /// Sends the trials of failing devices in a batch of their own, at the same time as the other pushes of the group.
    /// At an origin that devices have chosen, all pushes stay together.
    private func sendApart(_ group: RecipientGroup, of job: Job, tally: inout PageTally) async {
        guard group.origin == nil, let (trials, others) = separateTrials(of: group, job) else {
            return await sendFreely(group, of: job, tally: &tally)
        }
        let empty = tally.emptied()
        async let tried = sendFreely(trials, of: job, adding: empty)
        await sendFreely(others, of: job, tally: &tally)
        tally.merge(await tried, of: Self.application(of: group))
    }

    private func sendFreely(_ group: RecipientGroup, of job: Job, adding tally: PageTally) async -> PageTally {
        var tally = tally
        await sendFreely(group, of: job, tally: &tally)
        return tally
    }

    /// Sends all pushes of a group.
    /// - Parameter role: Whether the group is the probe of its origin, or a trial.
    func sendFreely(
        _ group: RecipientGroup, of job: Job, as role: OriginCircuitBreaker.Role = .ordinary, tally: inout PageTally
    ) async {
        let key = AuthorizationCache.Key(
            lane: job.delivery.lane,
            origin: type(of: group.service).tokensAreForOneOrigin ? group.origin : nil)
        var waiting = group.indices
        var renewals = 0
        var connection = ConnectionChoice(areSuspectedStale: group.areSuspectedStale)
        connection.areTrials = isTrial(group.indices, of: group, job)
        for round in 1...Self.roundLimit where !waiting.isEmpty {
            if job.isStopped { return hold(waiting, of: job, tally: &tally) }
            let grant: AuthorizationCache.Grant
            switch await authorizations.grant(for: key, credential: job.credential, service: group.service) {
            case .granted(let granted): grant = granted
            case .refused(let outcome): return add(outcome, of: job, at: waiting, to: &tally)
            }
            connection.generation = grant.generation
            let started = time.now
            let (successes, answers, origin) = await exchange(
                group, job, &waiting, grant, connection, isFirst: round == 1 && job.attempts.isEmpty, tally: &tally)
            record(successes, answers, to: waiting, of: group, job, startedAt: started, role: role, tally: &tally)
            // Test sends are left out, because they are not retried.
            if job.delivery.id != .none {
                failing.record(successes, answers, of: job.delivery.lane, origin)
                metrics.addFailures(answers.count(where: \.isFailure), on: job.delivery.platform)
            }
            waiting = []
            var isRefused = false
            for answer in answers {
                switch answer.outcome.reaction {
                case .retryElsewhere where round < Self.roundLimit:
                    connection.isElsewhere = true
                    waiting.append(answer.index)
                case .reauthorize where renewals == 0:
                    isRefused = true
                    if round < Self.roundLimit {
                        waiting.append(answer.index)
                    } else {
                        add(answer, from: origin, of: job, to: &tally)
                    }
                default: add(answer, from: origin, of: job, to: &tally)
                }
            }
            if isRefused {
                renewals += 1
                await authorizations.discard(grant, for: key)
            }
        }
    }

    /// Sends one batch.
    /// - Parameters:
    ///   - indices: The indices of the members to send to. The indices of members for which no request can be built are
    ///     removed.
    ///   - isFirst: Whether this is the first attempt for all members.
    /// - Returns: The number of plain successes (`PlainSuccess`), all other answers, and the origin of the batch.
    private func exchange(
        _ group: RecipientGroup, _ job: Job, _ indices: inout [Int], _ grant: AuthorizationCache.Grant,
        _ connection: ConnectionChoice, isFirst: Bool, tally: inout PageTally
    ) async -> (successes: Int, answers: [ResultCollector.Answer], origin: String) {
        let batch: RequestBatch
        do throws(PushServiceError) {
            batch = try makeBatch(group, job, &indices, grant, connection, tally: &tally)
        } catch {
            add(Self.outcome(of: error), of: job, at: indices, to: &tally)
            return (0, [], "")
        }
        let origin = batch.shared.origin.description
        guard !indices.isEmpty else { return (0, [], origin) }
        tally.addOrigin(origin)
        let collector = ResultCollector(
            service: group.service, messages: group.messages, members: job.page.members, indices: indices,
            map: job.map, isOwnOrigin: group.origin != nil, addresses: batch.shared.settings.addresses, time: time)
        count(batch, of: job, isFirst: isFirst)
        await transport.send(batch, before: .now + requestTimeout) { collector.take($0) }
        let (successes, answers, held) = collector.drain()
        tally.addSuccesses(successes)
        settleSuccesses(job, indices: indices, except: Set(answers.map(\.index) + held), origin, tally: &tally)
        if group.areSuspectedStale { clear(indices, answers, held, of: job, tally: &tally) }
        hold(held, of: job, tally: &tally)
        return (successes, answers, origin)
    }

    /// Counts a batch in the metrics. For first attempts, also records how long the pushes have waited since the
    /// notification was accepted or due, unless they have waited on purpose.
    private func count(_ batch: RequestBatch, of job: Job, isFirst: Bool) {
        let notification = job.delivery.notification
        // No waiting time is measured for a test send, because it does not wait in a queue.
        let waited =
            isFirst && job.delivery.id != .none && !job.hasWaitedOnPurpose
            ? time.now - (notification.dueAt ?? notification.acceptedAt) : nil
        metrics.addBatch(of: batch.count, on: job.delivery.platform, waited: waited)
    }

    private func makeBatch(
        _ group: RecipientGroup, _ job: Job, _ indices: inout [Int], _ grant: AuthorizationCache.Grant,
        _ connection: ConnectionChoice, tally: inout PageTally
    ) throws(PushServiceError) -> RequestBatch {
        let notification = job.delivery.notification
        var shared = try group.service.shared(
            group.messages[indices[0]], token: grant.token, expiry: job.delivery.expiresAt, at: time.now)
        if readsSuccesses { shared.plainSuccess = .none }
        connection.apply(to: &shared.settings, of: notification.hub)
        shared.settings.purpose = job.delivery.platform.rawValue
        // If the service itself writes a body for each device, the service has left the shared body nil. Then this
        // function writes no bodies.
        let writesBodies = group.messages.haveOwnBodies && shared.body != nil
        if writesBodies { shared.body = nil }
        var batch = RequestBatch(shared, reserving: indices.count)
        batch.stop = job.stop
        if job.delivery.id != .none { batch.flow = UInt64(bitPattern: job.delivery.id.rawValue) }
        var refused: Set<Int> = []
        let ids = messageIDs.ids(of: notification.id)
        for index in indices {
            let message = group.messages[index]
            if writesBodies { batch.itemBody = message.body }
            let id = ids[job.page.members[index]]
            do throws(PushServiceError) {
                try job.page.withHandle(index) { handle throws(PushServiceError) in
                    try group.service.append(handle, id: id, message: message, to: &batch)
                }
            } catch {
                refused.insert(index)
                tally.addUnsent(Self.outcome(of: error), to: addressee(index, of: job))
            }
        }
        if !refused.isEmpty { indices.removeAll(where: refused.contains) }
        return batch
    }

    /// Ends the retries that were plain successes (`PlainSuccess`), so that the store removes these retries from the
    /// retry table.
    private func settleSuccesses(
        _ job: Job, indices: [Int], except others: @autoclosure () -> Set<Int>, _ origin: String,
        tally: inout PageTally
    ) {
        guard !job.attempts.isEmpty else { return }
        let others = others()
        for index in indices where !others.contains(index) {
            var addressee = addressee(index, of: job)
            addressee.answer = PushAnswer(origin: origin, status: Int(HTTPStatus.ok.code))
            addressee.answeredAt = time.now
            tally.succeed(addressee)
        }
    }

    /// Records the members that were not sent to, because sending was stopped.
    func hold(_ indices: [Int], of job: Job, tally: inout PageTally) {
        for index in indices { tally.hold(addressee(index, of: job)) }
    }

    func add(_ outcome: Outcome, of job: Job, at indices: [Int], to tally: inout PageTally) {
        for index in indices {
            tally.add(outcome, to: addressee(index, of: job), chance: .random(in: 0..<1))
        }
    }

    private func add(
        _ answer: ResultCollector.Answer, from origin: String, of job: Job, to tally: inout PageTally
    ) {
        var addressee = addressee(answer.index, of: job)
        addressee.answer = PushAnswer(origin: origin, status: answer.status, connection: answer.connection)
        addressee.answeredAt = answer.at
        tally.add(answer.outcome, to: addressee, chance: .random(in: 0..<1))
    }

    func addressee(_ index: Int, of job: Job) -> PageTally.Addressee {
        PageTally.Addressee(
            member: job.page.members[index],
            registration: job.page.followed.isEmpty ? nil : job.page.followed[index], handle: job.page.handle(index),
            attemptsBefore: job.attempts.isEmpty ? 0 : job.attempts[index])
    }

    static func outcome(of error: PushServiceError) -> Outcome {
        switch error.kind {
        case .badCredential: Outcome(.invalidCredentials, reason: error.description, .stop)
        case .badHandle: Outcome(.badChannel, reason: error.description, .refuse)
        case .badMessage, .badTemplate: Outcome(.invalidNotificationFormat, reason: error.description, .refuseAll)
        case .messageTooLarge: Outcome(.invalidNotificationSize, reason: error.description, .refuseAll)
        case .unsuited: Outcome(.skipped, reason: error.description, .refuse)
        }
    }
}
