import MartletACME
import MartletModel

/// What is kept of orders over a restart.
struct ACMEState: Hashable, Sendable {
    var schedule = ACMESchedule()
    /// An order that is not finished.
    var order: ACMEURL?

    private static let depthLimit = 8

    init() {}

    /// Reads a file of an earlier process. An order of another authority or for other names is left out.
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

    /// A time from 1970 to the end of the year 9999, with which can be reckoned.
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
