import MartletHTTP
import MartletModel

/// Selects the connections to an origin that a batch may use: never those of another hub, nor those that carried a
/// token that was refused since.
struct ConnectionChoice {
    /// Whether the batch is for suspected stale devices: a service may slow down a connection because of them.
    var areSuspectedStale: Bool
    /// Whether the service has asked for another connection than the usual one.
    var isElsewhere = false
    /// The generation of the token (`AuthorizationCache.Grant`).
    var generation = 0

    init(areSuspectedStale: Bool) {
        self.areSuspectedStale = areSuspectedStale
    }

    func apply(to settings: inout TransportSettings, of hub: Hub.ID) {
        settings.partition += "#\(hub.rawValue).\(generation)"
        if isElsewhere { settings.partition += ".elsewhere" }
        guard areSuspectedStale else { return }
        settings.partition += ".suspects"
        settings.connectionLimit = 1
    }
}
