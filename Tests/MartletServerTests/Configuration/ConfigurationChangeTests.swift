import MartletHTTP
import Testing

@testable import MartletServer

struct ConfigurationChangeTests {
    private let old = ServerConfiguration(dataDirectory: "data", listen: .init(host: "127.0.0.1", port: 8080))

    private func change(_ edit: (inout ServerConfiguration) throws -> Void) rethrows -> ConfigurationChange {
        var new = old
        try edit(&new)
        return ConfigurationChange(from: old, to: new)
    }

    @Test func nothingIsTakenUpWhereNothingDiffers() {
        let change = change { _ in }
        #expect(change.taken == [])
        #expect(change.waiting == [])
        #expect(change.sentence == "Reloaded: nothing has changed.")
    }

    @Test func ratesProxiesAndTokensAreTakenUp() throws {
        let change = try change { new in
            new.requestRate = 10
            new.userRequestRate = 11
            new.backlogLimit = 12
            new.diskReserve = 13
            new.connectionsPerAddress = 14
            new.metricsTokenFile = "token"
            new.trustedProxies = try TrustedProxies("private")
            new.openIDConnect = .init(issuer: "https://id.example.org", audience: "martlet")
            new.consoleOpenIDConnect = try .init(
                issuer: "https://id.example.org", clientID: "console", roles: "admin=ops")
            new.usersMaySend = false
        }
        #expect(change.waiting == [])
        #expect(
            change.taken == [
                "trusted-proxies", "users-may-send", "oidc-issuer", "console-oidc-client-id", "request-rate",
                "user-request-rate",
                "backlog-limit",
                "disk-reserve", "metrics-token-file", "connections-per-address",
            ])
        #expect(change.effective.requestRate == 10)
        #expect(change.effective.openIDConnect?.audience == "martlet")
    }

    @Test func listenersDataAndLoopsWaitForARestart() {
        let change = change { new in
            new.listen = .init(host: "127.0.0.1", port: 9090)
            new.dataDirectory = "elsewhere"
            new.loops = 2
            new.requestRate = 10
        }
        #expect(change.effective.listen == old.listen)
        #expect(change.effective.dataDirectory == "data")
        #expect(change.sentence == "Reloaded: request-rate. Not taken up until a restart: data, listen, loops.")
    }

    @Test func aCertificateIsExchangedButNotAddedOrTakenAway() {
        let files = ServerConfiguration.TLS.files(certificate: "a", key: "b")
        #expect(change { $0.tls = files }.waiting == ["tls-certificate"])
        var secure = old
        secure.tls = files
        var other = secure
        other.tls = .files(certificate: "c", key: "b")
        #expect(ConfigurationChange(from: secure, to: other).taken == ["tls-certificate"])
        #expect(ConfigurationChange(from: secure, to: old).waiting == ["tls-certificate"])
    }
}
