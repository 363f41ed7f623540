import MartletCore
import MartletHTTP
import MartletModel

/// Handles that are the addresses of their own channels, at hosts below a name of the service's. Anyone who registers one
/// may have made it up, so it is judged when it is registered and again when it is sent to.
struct ChannelAddress: Sendable {
    /// What the names of the hosts end with, in lower case and without a dot before it.
    let domain: String
    /// Whether channels may be in the clear.
    let allowsHTTP: Bool

    /// Checks a handle and gives the key that it is compared by: hosts compare without case, the rest as it is.
    ///
    /// This machine may be named, because a simulated service is here; whether anything is sent there is up to the hub's
    /// credential.
    func key(of handle: PushHandle) throws(PushServiceError) -> String {
        guard handle.parts.count == 1, let key = HandleRules.canonicalURL(handle.parts[0], allowsHTTP: allowsHTTP),
            let (origin, _) = HTTPOrigin.splitting(key), isBelowDomain(origin) || LoopbackName.matches(origin.host)
        else { throw refusal }
        return key
    }

    /// Where a channel is reached.
    /// - Parameters:
    ///   - handle: The text of the handle, already checked.
    ///   - allowsLoopback: Whether the hub sends to a simulated service on this machine.
    func origin(
        of handle: UnsafeBufferPointer<UInt8>, allowsLoopback: Bool
    ) throws(PushServiceError) -> HTTPOrigin {
        guard let origin = HTTPOrigin.splitting(String(decoding: handle, as: UTF8.self))?.origin,
            origin.scheme == .https || allowsHTTP
        else { throw refusal }
        if LoopbackName.matches(origin.host) {
            guard allowsLoopback else {
                throw PushServiceError(.badHandle, "The hub's credential does not allow channels on this machine.")
            }
        } else if !isBelowDomain(origin) {
            throw refusal
        }
        return origin
    }

    private func isBelowDomain(_ origin: HTTPOrigin) -> Bool {
        origin.host.hasSuffix(".\(domain)") && origin.port == origin.scheme.defaultPort
    }

    private var refusal: PushServiceError {
        PushServiceError(
            .badHandle,
            "A channel URI is an absolute \(allowsHTTP ? "http or https" : "https") address at a host below \(domain).")
    }
}
