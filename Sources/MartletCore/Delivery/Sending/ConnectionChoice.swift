import MartletHTTP
import MartletModel

/// Selects the connections to an origin that a batch may use. A batch never uses a connection of another hub, or a
/// connection that carried a token which must not be used any more.
struct ConnectionChoice {
    /// Whether the batch is for suspected stale devices. The batch then uses its own connection, because a service may
    /// slow down a connection that carries pushes to such devices.
    var areSuspectedStale: Bool
    /// Whether the batch contains only trials: pushes to failing devices that test whether these devices can be reached
    /// again. The batch then uses its own connection, because a push to a failing device may make the service end the
    /// connection.
    var areTrials = false
    /// Whether the batch repeats requests that the service did not process. The batch then uses another connection than
    /// the first requests.
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
