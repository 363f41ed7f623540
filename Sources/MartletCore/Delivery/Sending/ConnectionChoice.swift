import MartletHTTP
import MartletModel

/// Selects the connections to an origin that a batch may use: never the connections of another hub, and never
/// connections that carried a token which must no longer be used.
struct ConnectionChoice {
    /// Whether the batch is for suspected stale devices. It then uses its own connection, because a service may slow
    /// down a connection on which such devices are sent to.
    var areSuspectedStale: Bool
    /// Whether the batch is for failing devices only, and tests whether they can be reached again. It then uses its own
    /// connection, because a push to one of them may make the service end the connection.
    var areTrials = false
    /// Whether the batch repeats requests that the service did not process. The batch then uses another connection than
    /// the first requests did.
    var isElsewhere = false
    /// The generation of the token (`AuthorizationCache.Grant`).
    var generation = 0

    init(areSuspectedStale: Bool) {
        self.areSuspectedStale = areSuspectedStale
    }

    func apply(to settings: inout TransportSettings, of hub: Hub.ID) {
        settings.partition += "#\(hub.rawValue).\(generation)"
        if isElsewhere { settings.partition += ".elsewhere" }
        if areTrials { settings.partition += ".trials" }
        guard areSuspectedStale else { return }
        settings.partition += ".suspects"
        settings.connectionLimit = 1
    }
}
