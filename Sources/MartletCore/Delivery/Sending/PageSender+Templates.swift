import MartletHTTP
import MartletModel

/// The content of a delivery, prepared for its pages.
enum DeliveryContent: Sendable {
    case native(Message)
    case templates(TemplateRenderer)
    case composed(ComposedRenderer)
    /// No message can be rendered, because this process does not know the platform. Also a placeholder while a page
    /// changes the real content, so that the content is not copied.
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
        case .message(let content):
            guard let platform else { return .nothing }
            return .composed(ComposedRenderer(ComposedRendering(content, of: delivery.notification, on: platform)))
        }
    }

    /// Sends the pushes of a page.
    /// - Parameter indices: The indices, in the page, of the members to send to.
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
        case .composed(var renderer):
            content = .nothing
            await send(job, composed: &renderer, service, indices, tally: &tally)
            content = .composed(renderer)
        case .nothing:
            add(.noPushService(for: job.delivery.platform), of: job, at: indices, to: &tally)
        }
    }

    /// Messages are collected until they take about this many bytes of memory, and are then sent together.
    private static let messageBytes = 2 << 20

    /// Renders and sends the messages for the members of a page, in portions of about `messageBytes`. Most of these
    /// messages have bodies of their own, and all of them together could take much memory.
    func send(
        _ job: Job, _ renderer: inout some PageRenderer, _ service: any PushService, _ indices: [Int],
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

    /// Renders messages for the first of the remaining members, until `messageBytes` is reached. Groups the members
    /// whose messages can share a batch. If the message of a member cannot be rendered, the member gets the reason as
    /// its outcome.
    private func groups(
        _ renderer: inout some PageRenderer, ofFirst rest: inout ArraySlice<Int>, of job: Job,
        _ service: any PushService, _ sample: any PushService, tally: inout PageTally
    ) -> [RecipientGroup] {
        var sorting = RecipientGrouping(renderings: renderer.versionCount(of: job.page))
        // The same current time is used for all messages. Otherwise their times to live would differ, and they could
        // not share a batch.
        let now = time.now
        while sorting.bytes < Self.messageBytes, let index = rest.popFirst() {
            let rendering = renderer.version(of: index, in: job.page)
            if sorting.isUnknown(rendering) {
                switch renderer.message(ofVersion: rendering, in: job.page) {
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
                sorting.messages, byIndex: renderer.versions(of: job.page), haveOwnBodies: group.haveOwnBodies)
            return groups(messages, to: group.indices, of: job, service, tally: &tally)
        }
    }

    /// Returns the message, limited to the expiry that the sender of the notification has stated
    /// (`PushPlatform.limited`). If the sender has stated no expiry, returns the message unchanged.
    func limited(_ message: Message, of job: Job, _ service: any PushService) -> Message {
        let notification = job.delivery.notification
        guard notification.statesExpiry else { return message }
        return type(of: service).limited(message, to: job.delivery.expiresAt, at: time.now)
    }

    private func sort(
        _ message: Message, _ rendering: Int, of job: Job, _ service: any PushService, at now: Timestamp,
        into sorting: inout RecipientGrouping
    ) {
        do throws(PushServiceError) {
            let shared = try service.shared(
                message, token: nil, expiry: job.delivery.expiresAt, at: now)
            sorting.take(message, rendering, shared)
        } catch {
            sorting.refuse(rendering, Self.outcome(of: error))
        }
    }
}
