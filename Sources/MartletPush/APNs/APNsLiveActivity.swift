import MartletCore
import MartletModel

/// What the payload of a push to a Live Activity has (PushServices.md, section 1.7).
///
/// The service takes a payload that lacks some of it, and the device throws it away without a word: so the sender is told
/// here.
enum APNsLiveActivity {
    enum Event: String, CaseIterable {
        case start
        case update
        case end
    }

    /// What a payload asks for; nil where it is none of a Live Activity's.
    static func event(of body: [UInt8]) -> Event? {
        (try? JSON(parsing: body))?["aps"].flatMap(event)
    }

    private static func event(of aps: JSON) -> Event? {
        aps["event"]?.string.flatMap(Event.init)
    }

    /// Whether a payload that does not say what it is can only be for a Live Activity.
    static func isMeant(by aps: JSON) -> Bool {
        event(of: aps) != nil && (aps["timestamp"] != nil || aps["content-state"] != nil)
    }

    static func check(_ payload: JSON) throws(PushServiceError) {
        guard let aps = payload["aps"], let event = event(of: aps) else {
            let events = Event.allCases.map(\.rawValue).joined(separator: ", ")
            throw refusal("aps.event must be one of \(events).")
        }
        guard aps["timestamp"] != nil else {
            throw refusal("aps.timestamp must be there: the time of the event, in seconds.")
        }
        for name in ["timestamp", "stale-date", "dismissal-date"] { try checkTime(name, of: aps) }
        try checkState(of: aps, at: event)
        if event == .start { try checkStart(aps) }
    }

    /// The end of an activity may leave it as it is.
    private static func checkState(of aps: JSON, at event: Event) throws(PushServiceError) {
        if event == .end, aps["content-state"] == nil { return }
        guard aps["content-state"]?.object != nil else {
            throw refusal("aps.content-state must be an object, with the members that the app expects.")
        }
    }

    private static func checkStart(_ aps: JSON) throws(PushServiceError) {
        guard aps["attributes-type"]?.string.map({ !$0.isEmpty }) ?? false else {
            throw refusal("aps.attributes-type must name the app's type of attributes where an activity is started.")
        }
        guard aps["attributes"]?.object != nil else {
            throw refusal("aps.attributes must be an object where an activity is started.")
        }
        guard aps["alert"]?.string != nil || aps["alert"]?.object != nil else {
            throw refusal("aps.alert must be there where an activity is started: the user is told of it.")
        }
    }

    private static func checkTime(_ name: String, of aps: JSON) throws(PushServiceError) {
        let isTime =
            switch aps[name] {
            case nil: true
            case .integer(let seconds): secondsRange.contains(Double(seconds))
            case .double(let seconds): secondsRange.contains(seconds)
            default: false
            }
        guard isTime else { throw refusal("aps.\(name) must be Unix time in seconds, as a number.") }
    }

    /// Milliseconds lie above: a device that has seen such a time takes everything that follows for old.
    private static let secondsRange: Range<Double> = 0..<100_000_000_000

    private static func refusal(_ sentence: String) -> PushServiceError {
        PushServiceError(.badMessage, "The payload of a Live Activity: \(sentence)")
    }
}
