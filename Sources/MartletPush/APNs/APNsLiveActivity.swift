import MartletCore
import MartletModel

/// The requirements for the payload of a push to a Live Activity (PushServices.md, section 1.7).
///
/// If a payload lacks some of the required members, the service still accepts it, but the device discards it silently.
/// Therefore the payload is checked here and the sender gets an error.
enum APNsLiveActivity {
    enum Event: String, CaseIterable {
        case start
        case update
        case end
    }

    /// Returns the event in the payload's member `aps.event`; nil if the member is missing or is not an event of a Live
    /// Activity.
    static func event(of body: [UInt8]) -> Event? {
        (try? JSON(parsing: body))?["aps"].flatMap(event)
    }

    private static func event(of aps: JSON) -> Event? {
        aps["event"]?.string.flatMap(Event.init)
    }

    /// Returns whether the member `aps` of a payload shows that the payload is for a Live Activity. A message that
    /// states no push type gets its push type by this rule.
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

    /// Checks the state of the activity. The event that ends an activity may omit the state. The state then stays as it
    /// is.
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

    /// The range of valid times, in seconds since 1970.
    ///
    /// A larger value is a time in milliseconds. A device that has received such a time discards all later pushes as
    /// outdated.
    private static let secondsRange: Range<Double> = 0..<100_000_000_000

    private static func refusal(_ sentence: String) -> PushServiceError {
        PushServiceError(.badMessage, "The payload of a Live Activity: \(sentence)")
    }
}
