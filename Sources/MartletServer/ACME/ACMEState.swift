import MartletACME
import MartletModel

/// The state of the ACME service that is kept across restarts.
struct ACMEState: Hashable, Sendable {
    var schedule = ACMESchedule()
    /// The URL of the order that is not finished; nil if there is none.
    var order: ACMEURL?

    private static let depthLimit = 8

    init() {}

    /// Parses the state that an earlier process wrote to the state file.
    ///
    /// The order is ignored if its authority or its names differ from those in `settings`. If the text is not a JSON
    /// document, the state is empty.
    init(_ bytes: [UInt8], settings: ACMESettings) {
        guard let document = try? JSON(parsing: bytes, maximumDepth: Self.depthLimit) else { return }
        let orders = (document["orders"]?.array ?? []).compactMap(Self.time)
        let wait = document["askedWait"].flatMap(Self.time)
        schedule = ACMESchedule(orders: orders, askedWait: wait)
        guard document["directory"] == .string(settings.directory.description),
            document["domains"] == .array(settings.domains.map(JSON.string))
        else { return }
        order = document["order"]?.string.flatMap(ACMEURL.init)
    }

    /// Converts a number of milliseconds since 1970 to a time. The result is nil for a time outside the years 1970 to
    /// 9999, the range in which calculations with times are safe.
    private static func time(_ number: JSON) -> Timestamp? {
        number.integer.flatMap { (0...Timestamp.distantFuture.milliseconds).contains($0) ? $0 : nil }
            .map(Timestamp.init(milliseconds:))
    }

    func bytes(_ settings: ACMESettings) -> [UInt8] {
        var document: [String: JSON] = [
            "directory": .string(settings.directory.description),
            "domains": .array(settings.domains.map(JSON.string)),
            "orders": .array(schedule.orders.map { .integer($0.milliseconds) }),
        ]
        if let order { document["order"] = .string(order.description) }
        if let wait = schedule.askedWait { document["askedWait"] = .integer(wait.milliseconds) }
        return JSON.object(document).bytes
    }
}
