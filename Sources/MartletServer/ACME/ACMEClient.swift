import MartletACME
import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletPush

/// Sends the requests of an order to the ACME authority.
struct ACMEClient: Sendable {
    let settings: ACMESettings
    let key: P256PrivateKey
    /// The certificates to trust for the connection to the authority, as PEM; nil for the system's certificates.
    let trusted: String?
    let program: String
    let transport: any HTTPTransport
    let time: any TimeSource

    private static let timeout: Duration = .seconds(30)

    func send(_ request: ACMERequest) async throws(ACMEFailure) -> ACMEAnswer {
        var http: HTTPRequest
        do throws(CryptoError) {
            http = try request.http(key: key, program: program)
        } catch {
            throw ACMEFailure("the request cannot be signed: \(error)")
        }
        http.answerLimit = ACMEAnswer.lengthLimit
        do throws(TransportError) {
            let response = try await transport.send(
                http, to: request.url.origin, settings: transportSettings(for: request.url.origin),
                before: .now + Self.timeout)
            return ACMEAnswer(
                response.status, nonce: response.fields["replay-nonce"], location: response.fields["location"],
                retryAfter: RetryAfter.wait(response.fields, at: time.now), body: response.bytes)
        } catch {
            throw ACMEFailure("the authority at \(request.url.origin) cannot be reached: \(error.detail)")
        }
    }

    /// Returns the settings for connections to an origin.
    ///
    /// Most origins come from the authority's answers, so they must be at public addresses. Only the origin of an ACME
    /// directory that the operator has configured may be at any address.
    func transportSettings(for origin: HTTPOrigin) -> TransportSettings {
        TransportSettings(
            trustedCertificatesPEM: trusted, connectionLimit: 1,
            addresses: .allowed(for: origin, namedBy: settings.isOwnDirectory ? settings.directory.origin : nil))
    }
}
