import MartletCore
import MartletHTTP
import MartletModel

/// A signed URL that a caller has sent. It belongs to a container of this server, or to a blob in such a container.
struct StorageURL {
    let container: ContainerName
    /// The blob; nil if the URL is that of the container itself.
    let blob: BlobName?

    private static let lengthLimit = 4096

    /// - Parameters:
    ///   - name: The name of the element that contained the URL, for error messages.
    ///   - right: The right that the signature must grant.
    ///   - hosts: The hosts of this server, in lower case without port.
    init(
        _ text: String, _ name: String, needs right: StorageRights, hosts: [String], signer: URLSigner, now: Timestamp
    ) throws(HubAPIError) {
        guard text.utf8.count <= Self.lengthLimit, let (origin, rest) = HTTPOrigin.splitting(text),
            let target = HTTPTarget(rest)
        else { throw .badRequest("The \(name) is not an http or https URL") }
        guard Self.isOwn(origin, of: hosts), target.segments.count >= 2,
            target.segments[0].lowercased() == ContainerAPI.segment
        else {
            throw .badRequest(
                "The \(name) is not in a container of this server, which reads and writes no others: make one with "
                    + "'martlet container create NAME' and use the URL that it prints")
        }
        guard let container = ContainerName(target.segments[1]) else { throw .badRequest(ContainerName.rule) }
        self.container = container
        do throws(BlobError) {
            let rights = try signer.rights(of: target, containerDepth: 2, at: now)
            guard rights.contains(right) else { throw .notAllowed }
        } catch {
            throw .badRequest("The \(name) cannot be used: \(error.sentence)")
        }
        guard target.segments.count > 2 else {
            blob = nil
            return
        }
        guard let blob = BlobName(target.segments[2...].joined(separator: "/")) else {
            throw .badRequest(BlobName.rule)
        }
        self.blob = blob
    }

    /// Returns true if the URL's host is one of `hosts`. All loopback names count as equal: URLs that the server prints
    /// contain the address of the listener, but clients may use another loopback name.
    private static func isOwn(_ origin: HTTPOrigin, of hosts: [String]) -> Bool {
        let own = hosts.map { HTTPOrigin(scheme: .http, host: $0.filter { $0 != "[" && $0 != "]" }) }
        return own.contains { $0.host == origin.host || ($0.isLoopback && origin.isLoopback) }
    }
}
