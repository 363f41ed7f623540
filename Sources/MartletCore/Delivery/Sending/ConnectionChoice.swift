import MartletHTTP
import MartletModel

/// Which connections to an origin the pushes of a batch may go on: never those of another hub, nor those on which a token
/// was used that has been refused since.
struct ConnectionChoice {
    /// Devices that were called dead, on whose account a service may slow a connection down.
    var areSuspectedStale: Bool
    /// Whether the service has asked for another connection than the usual one.
    var isElsewhere = false
    /// Of the token.
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
