import MartletBackend
import MartletCore

extension ServerConfiguration {
    var backendSettings: BackendSettings {
        var settings = BackendSettings(
            policy: RolePolicy(usersMaySend: usersMaySend),
            payloads: PayloadSettings(
                sizeLimit: payloadLimit, quota: payloadQuota,
                sample: sampleNotification.flatMap { .init(rawValue: $0.rawValue) }))
        settings.publicOrigin = publicURL
        if let userRequestRate { settings.requestRate = RequestRate(perSecond: userRequestRate) }
        return settings
    }

    /// Reads the token from the configured file; nil if no file is configured.
    func metricsToken() throws(ServerError) -> MetricsToken? {
        guard let metricsTokenFile else { return nil }
        return try MetricsToken(file: metricsTokenFile)
    }
}
