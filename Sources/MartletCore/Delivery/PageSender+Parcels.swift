import MartletHTTP
import MartletModel

extension PageSender {
    /// Pushes of a page that one batch can hold: they go to one origin and differ in nothing but handles and bodies.
    struct Parcel: Sendable {
        var service: any PushService
        /// nil where the service has one for all devices.
        var origin: HTTPOrigin?
        /// Places in the page.
        var places: [Int]
        var messages: PageMessages
        /// Whether they are for devices that are sent to on a connection of their own.
        var areSuspects = false
        /// Devices that are known to fail and are tried again.
        var trials: Set<DeviceIdentity> = []
    }

    /// Parcels of one page that go at the same time: an origin that answers slowly holds up the page but none of the
    /// others.
    private static let parcelsAtOnce = 64
    /// Pushes in a parcel for one of several origins. Messages that are made for their device alone, as those for
    /// addresses are, are then made on whichever core is free.
    private static let parcelLimit = 256

    /// Sorts members whose messages can share a batch by where they are reached. A device that is nowhere is its outcome.
    func parcels(
        _ messages: PageMessages, to places: [Int], of job: Job, _ service: any PushService, tally: inout PageTally
    ) -> [Parcel] {
        guard type(of: service).handlesAreAddresses else {
            let whole = Parcel(service: service, places: places, messages: messages)
            return job.suspects.isEmpty ? [whole] : split(whole, by: job.suspects)
        }
        var parcels: [Parcel] = []
        var open: [HTTPOrigin: Int] = [:]
        for place in places {
            do throws(PushServiceError) {
                let origin = try origin(of: place, of: job, service)
                if let number = open[origin], parcels[number].places.count < Self.parcelLimit {
                    parcels[number].places.append(place)
                } else {
                    open[origin] = parcels.count
                    parcels.append(
                        Parcel(service: service.at(origin), origin: origin, places: [place], messages: messages))
                }
            } catch {
                tally.addUnsent(Self.outcome(of: error), to: addressee(place, of: job))
            }
        }
        return parcels
    }

    /// The service at the first of the members who is anywhere, by which messages can be compared; nil where there is
    /// none.
    func sampleService(_ service: any PushService, for places: [Int], of job: Job) -> (any PushService)? {
        guard type(of: service).handlesAreAddresses else { return service }
        for place in places {
            if let origin = try? origin(of: place, of: job, service) { return service.at(origin) }
        }
        return nil
    }

    private func origin(
        of place: Int, of job: Job, _ service: any PushService
    ) throws(PushServiceError) -> HTTPOrigin {
        try job.page.withHandle(place) { handle throws(PushServiceError) in try service.origin(of: handle) }
    }

    /// Sends all parcels.
    func send(_ parcels: [Parcel], of job: Job, tally: inout PageTally) async {
        let empty = tally.emptied()
        if let only = parcels.first, parcels.count == 1 {
            var own = empty
            await send(only, of: job, tally: &own)
            return tally.merge(own, of: Self.application(of: only))
        }
        await withTaskGroup(of: (String, PageTally).self) { group in
            for (number, parcel) in parcels.enumerated() {
                if number >= Self.parcelsAtOnce, let (application, done) = await group.next() {
                    tally.merge(done, of: application)
                }
                group.addTask {
                    var own = empty
                    await send(parcel, of: job, tally: &own)
                    return (Self.application(of: parcel), own)
                }
            }
            for await (application, done) in group { tally.merge(done, of: application) }
        }
    }

    /// Whoever answers at an origin that devices have chosen proves nothing of others.
    private static func application(of parcel: Parcel) -> String {
        if let origin = parcel.origin { return origin.description }
        return parcel.places.first.map { parcel.service.application(of: parcel.messages[$0]) } ?? ""
    }
}
