import MartletHTTP
import MartletModel

/// Sends the pushes of one page and tallies what they come to.
///
/// A round is one batch. What the service did not process goes again at once, on another connection, and a refused token
/// is renewed once; whatever else is to be tried again is left to the retries of the delivery.
struct PageSender: Sendable {
    /// Rounds in which unprocessed requests are sent again at once.
    private static let roundLimit = 3

    let transport: any HTTPTransport
    let authorizations: AuthorizationCache
    let messageIDs: MessageIDKey
    var requestTimeout: Duration
    let time: any TimeSource
    let templates = CompiledTemplates()

    /// One page with what its requests are made of.
    struct Job: Sendable {
        var delivery: Delivery
        var credential: Credential
        /// nil where nothing sends to the platform.
        var service: (any PushService)?
        var page: AudiencePage
        /// Attempts made before, by place in the page; empty where there were none.
        var attempts: [Int]
        var map: any ProgressMap

        /// A page of first attempts.
        init(_ delivery: Delivery, _ lane: ReadyLane, page: AudiencePage, map: any ProgressMap) {
            self.delivery = delivery
            credential = lane.credential
            service = lane.service
            self.page = page
            attempts = []
            self.map = map
        }
    }

    func send(_ job: Job, _ messages: PageMessages, places: [Int], tally: inout PageTally) async {
        guard let service = job.service else {
            add(Self.noPushService(for: job.delivery.platform), of: job, at: places, to: &tally)
            return
        }
        var waiting = places
        var renewals = 0
        for round in 1...Self.roundLimit where !waiting.isEmpty {
            let grant: AuthorizationCache.Grant
            let batch: RequestBatch
            do throws(PushServiceError) {
                grant = try await authorizations.grant(
                    for: job.delivery.lane, credential: job.credential, service: service, at: time.now)
                batch = try makeBatch(job, service, messages, places: waiting, grant: grant)
            } catch {
                add(Self.outcome(of: error), of: job, at: waiting, to: &tally)
                return
            }
            let answers = await exchange(batch, job, service, places: waiting, tally: &tally)
            waiting = []
            var isRefused = false
            for answer in answers {
                switch answer.outcome.reaction {
                case .retryElsewhere where round < Self.roundLimit:
                    waiting.append(answer.place)
                case .reauthorize where renewals == 0:
                    isRefused = true
                    waiting.append(answer.place)
                default:
                    add(answer.outcome, of: job, at: [answer.place], to: &tally)
                }
            }
            if isRefused {
                renewals += 1
                await authorizations.discard(grant, of: job.delivery.lane)
            }
        }
    }

    private func makeBatch(
        _ job: Job, _ service: any PushService, _ messages: PageMessages, places: [Int], grant: AuthorizationCache.Grant
    ) throws(PushServiceError) -> RequestBatch {
        let notification = job.delivery.notification
        var shared = try service.shared(messages[places[0]], token: grant.token, expiry: notification.expiresAt)
        shared.settings.partition += "#\(notification.hub.rawValue).\(grant.generation)"
        // Some services write a body for each device anyway.
        let writesBodies = messages.haveOwnBodies && shared.body != nil
        if writesBodies { shared.body = nil }
        var batch = RequestBatch(shared, reserving: places.count)
        for place in places {
            let message = messages[place]
            if writesBodies { batch.itemBody = message.body }
            let id = messageIDs.id(of: notification.id, to: job.page.members[place])
            job.page.withHandle(place) { service.append($0, id: id, message: message, to: &batch) }
        }
        return batch
    }

    private func exchange(
        _ batch: RequestBatch, _ job: Job, _ service: any PushService, places: [Int], tally: inout PageTally
    ) async -> [ResultCollector.Answer] {
        let collector = ResultCollector(
            service: service, members: job.page.members, places: places, map: job.map, time: time)
        await transport.send(batch, before: .now + requestTimeout) { collector.take($0) }
        let (successes, answers) = collector.drain()
        tally.addSuccesses(successes)
        settleSuccesses(job, places: places, answers: answers, tally: &tally)
        return answers
    }

    /// Retries that were plain successes leave the retry table.
    private func settleSuccesses(
        _ job: Job, places: [Int], answers: [ResultCollector.Answer], tally: inout PageTally
    ) {
        guard !job.attempts.isEmpty else { return }
        let answered = Set(answers.map(\.place))
        for place in places where !answered.contains(place) { tally.settle(job.page.members[place]) }
    }

    private func add(_ outcome: Outcome, of job: Job, at places: [Int], to tally: inout PageTally) {
        for place in places {
            tally.add(outcome, to: addressee(place, of: job), chance: .random(in: 0..<1))
        }
    }

    func addressee(_ place: Int, of job: Job) -> PageTally.Addressee {
        PageTally.Addressee(
            member: job.page.members[place], handle: job.page.handle(place),
            attempts: (job.attempts.isEmpty ? 0 : job.attempts[place]) + 1)
    }

    private static func noPushService(for platform: PlatformID) -> Outcome {
        Outcome(.noPushService, reason: "This server has nothing that sends to \(platform) yet.", .refuseAll)
    }

    static func outcome(of error: PushServiceError) -> Outcome {
        switch error.kind {
        case .badCredential: Outcome(.invalidCredentials, reason: error.description, .stop)
        case .badHandle: Outcome(.badChannel, reason: error.description, .refuse)
        case .badMessage, .badTemplate: Outcome(.invalidNotificationFormat, reason: error.description, .refuseAll)
        case .messageTooLarge: Outcome(.invalidNotificationSize, reason: error.description, .refuseAll)
        }
    }
}
