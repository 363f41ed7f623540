import MartletCore
import MartletHTTP
import MartletModel

/// A request whose URL was signed by this server and has not expired.
struct ContainerCall: Sendable {
    /// The request. At first, this is only the request's head; the complete request replaces it before the route
    /// answers.
    var request: HTTPRequest
    let rights: StorageRights
    let container: ContainerName
    private let match: RouteMatch

    init(
        _ request: HTTPRequest, _ match: RouteMatch, signer: URLSigner, now: Timestamp
    ) throws(BlobError) {
        rights = try signer.rights(of: match.target, containerDepth: 2, at: now)
        guard let container = ContainerName(match["container"]) else { throw .badContainerName }
        if let feature = UnservedFeature.first(in: request, match.target) { throw .notImplemented(feature) }
        self.container = container
        self.request = request
        self.match = match
    }

    /// The account that is charged for the memory of the body. All callers with URLs of one container share one
    /// account.
    var account: HTTPBodyAccount { .caller(match["container"], scope: ContainerAPI.segment) }

    func needs(_ right: StorageRights) throws(BlobError) {
        guard rights.contains(right) else { throw .notAllowed }
    }

    /// Returns the address of the blob that the path names.
    func blob() throws(BlobError) -> BlobAddress {
        guard let name = BlobName(match["blob"]) else { throw .badBlobName }
        return BlobAddress(container, name)
    }

    /// Returns the value of a query item; nil if the item is missing or empty.
    func query(_ name: String) -> String? {
        match.target.item(name)?.value.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The condition for writing the blob, from `If-None-Match` or `If-Match`.
    var condition: BlobCondition {
        if request.fields["if-none-match"] == "*" { return .absent }
        guard let tag = request.fields["if-match"], tag != "*" else { return .none }
        return .entityTag(tag)
    }
}
