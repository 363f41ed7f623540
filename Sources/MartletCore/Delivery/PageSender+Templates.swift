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
        let moment = delivery.notification.acceptedAt
        switch delivery.notification.content {
        case .native(_, let message):
            return .native(platform?.normalized(message, at: moment) ?? message)
        case .template(let properties):
            guard let platform else { return .nothing }
            return .templates(TemplateRenderer(properties, on: platform, at: moment, templates: templates))
        }
    }

    /// Sends the pushes of a page.
    /// - Parameter places: Whom of the page it is for.
    func send(_ job: Job, _ content: inout DeliveryContent, places: [Int], tally: inout PageTally) async {
        switch content {
        case .native(let message):
            await send(job, PageMessages(message), places: places, tally: &tally)
        case .templates(var renderer) where job.service != nil:
            content = .nothing
            await send(job, &renderer, places: places, tally: &tally)
            content = .templates(renderer)
        case .templates, .nothing:
            await send(job, PageMessages(Message(body: [])), places: places, tally: &tally)
        }
    }

    /// Parcels under way at the same time.
    private static let parcelLimit = 16
    /// Members at a time where nearly everyone has a message of his own, which all lie in memory together.
    private static let ownMessageLimit = 1000

    private func send(
        _ job: Job, _ renderer: inout TemplateRenderer, places: [Int], tally: inout PageTally
    ) async {
        let isVaried = job.page.renderings.count > TemplateRenderer.limit
        let portion = isVaried ? Self.ownMessageLimit : max(places.count, 1)
        for start in stride(from: 0, to: places.count, by: portion) {
            let some = Array(places[start..<min(start + portion, places.count)])
            let parcels = makeParcels(job, &renderer, some, tally: &tally)
            await send(parcels, job, tally: &tally)
        }
    }

    private func send(_ parcels: [Parcel], _ job: Job, tally: inout PageTally) async {
        if let only = parcels.first, parcels.count == 1 {
            return await send(job, only.messages, places: only.places, tally: &tally)
        }
        let empty = tally.emptied()
        await withTaskGroup(of: PageTally.self) { group in
            for (number, parcel) in parcels.enumerated() {
                if number >= Self.parcelLimit, let done = await group.next() { tally.merge(done) }
                group.addTask {
                    var own = empty
                    await self.send(job, parcel.messages, places: parcel.places, tally: &own)
                    return own
                }
            }
            for await done in group { tally.merge(done) }
        }
    }

    /// Members whose requests can go in one batch: in all but their bodies they are the same.
    private struct Parcel: Sendable {
        var places: [Int]
        var messages: PageMessages
    }

    /// Renders what the members are sent and puts together what can go together. What gives nothing to send is their
    /// outcome.
    private func makeParcels(
        _ job: Job, _ renderer: inout TemplateRenderer, _ places: [Int], tally: inout PageTally
    ) -> [Parcel] {
        var sorting = ParcelSorting(renderings: job.page.renderings.count)
        for place in places {
            let rendering = Int(job.page.renderingPlaces[place])
            if sorting.isUnknown(rendering) {
                switch renderer.message(for: job.page.renderings[rendering]) {
                case .refused(let outcome): sorting.refuse(rendering, outcome)
                case .message(let message): sort(message, rendering, of: job, into: &sorting)
                }
            }
            if let outcome = sorting.add(place, rendering) {
                tally.addUnsent(outcome, to: addressee(place, of: job))
            }
        }
        return sorting.groups.map { group in
            Parcel(
                places: group.places,
                messages: PageMessages(
                    sorting.messages, byPlace: job.page.renderingPlaces, haveOwnBodies: group.haveOwnBodies))
        }
    }

    private func sort(_ message: Message, _ rendering: Int, of job: Job, into sorting: inout ParcelSorting) {
        guard let service = job.service else { return }
        do throws(PushServiceError) {
            let shared = try service.shared(message, token: nil, expiry: job.delivery.notification.expiresAt)
            sorting.take(message, rendering, shared)
        } catch {
            sorting.refuse(rendering, Self.outcome(of: error))
        }
    }
}
