import MartletHTTP
import MartletModel

/// What a delivery brings, made ready for the pages of one run.
enum DeliveryContent: Sendable {
    case native(Message)
    case templates(TemplateRenderer)
    /// Templates of a platform that this process does not know any more.
    case nothing
}

extension PageSender {
    func content(of delivery: Delivery, on platform: (any PushPlatform.Type)?) -> DeliveryContent {
        let timestamp = delivery.notification.acceptedAt
        switch delivery.notification.content {
        case .native(_, let message):
            return .native(platform?.normalized(message, at: timestamp) ?? message)
        case .template(let properties):
            guard let platform else { return .nothing }
            return .templates(TemplateRenderer(properties, on: platform, at: timestamp, templates: templates))
        }
    }

    /// Sends the pushes of a page.
    /// - Parameter indices: Whom of the page it is for.
    func send(_ job: Job, _ content: inout DeliveryContent, indices: [Int], tally: inout PageTally) async {
        let service: any PushService
        switch job.sending {
        case .by(let known): service = known
        case .refused(let outcome): return add(outcome, of: job, at: indices, to: &tally)
        }
        var (job, indices) = (job, indices)
        await separateSuspectedStale(&job, &indices, service, tally: &tally)
        guard !indices.isEmpty else { return }
        switch content {
        case .native(let message):
            let message = limited(message, of: job, service)
            let groups = groups(PageMessages(message), to: indices, of: job, service, tally: &tally)
            await send(groups, of: job, tally: &tally)
        case .templates(var renderer):
            content = .nothing
            await send(job, &renderer, service, indices, tally: &tally)
            content = .templates(renderer)
        case .nothing:
            add(.noPushService(for: job.delivery.platform), of: job, at: indices, to: &tally)
        }
    }

    /// How much memory the messages take that are sent together, in bytes, but for the last of them.
    private static let messageBytes = 2 << 20

    private func send(
        _ job: Job, _ renderer: inout TemplateRenderer, _ service: any PushService, _ indices: [Int],
        tally: inout PageTally
    ) async {
        guard let sample = sampleService(service, for: indices, of: job) else {
            let groups = groups(PageMessages(Message(body: [])), to: indices, of: job, service, tally: &tally)
            return await send(groups, of: job, tally: &tally)
        }
        var rest = indices[...]
        while !rest.isEmpty {
            let groups = groups(&renderer, ofFirst: &rest, of: job, service, sample, tally: &tally)
            await send(groups, of: job, tally: &tally)
        }
    }

    /// Renders what the first members are sent, as many as there is room for, and puts together what can go together.
    /// What gives nothing to send is their outcome.
    private func groups(
        _ renderer: inout TemplateRenderer, ofFirst rest: inout ArraySlice<Int>, of job: Job,
        _ service: any PushService, _ sample: any PushService, tally: inout PageTally
    ) -> [RecipientGroup] {
        var sorting = RecipientGrouping(renderings: job.page.renderings.count)
        // One time for all, so that durations do not keep messages apart.
        let now = time.now
        while sorting.bytes < Self.messageBytes, let index = rest.popFirst() {
            let rendering = Int(job.page.bindingIndices[index])
            if sorting.isUnknown(rendering) {
                switch renderer.message(for: job.page.renderings[rendering]) {
                case .refused(let outcome): sorting.refuse(rendering, outcome)
                case .message(let message):
                    sort(limited(message, of: job, service), rendering, of: job, sample, at: now, into: &sorting)
                }
            }
            if let outcome = sorting.add(index, rendering) {
                tally.addUnsent(outcome, to: addressee(index, of: job))
            }
        }
        return sorting.groups.flatMap { group in
            let messages = PageMessages(
                sorting.messages, byIndex: job.page.bindingIndices, haveOwnBodies: group.haveOwnBodies)
            return groups(messages, to: group.indices, of: job, service, tally: &tally)
        }
    }

    /// Push services are told when to stop where the sender has said when; otherwise they keep a message as long as they
    /// do.
    private func limited(_ message: Message, of job: Job, _ service: any PushService) -> Message {
        let notification = job.delivery.notification
        guard notification.statesExpiry else { return message }
        return type(of: service).limited(message, to: notification.expiresAt, at: time.now)
    }

    private func sort(
        _ message: Message, _ rendering: Int, of job: Job, _ service: any PushService, at now: Timestamp,
        into sorting: inout RecipientGrouping
    ) {
        do throws(PushServiceError) {
            let shared = try service.shared(
                message, token: nil, expiry: job.delivery.notification.expiresAt, at: now)
            sorting.take(message, rendering, shared)
        } catch {
            sorting.refuse(rendering, Self.outcome(of: error))
        }
    }
}
