import MartletCrypto
import MartletHTTP

/// The bearer token that permits reading metrics over the network.
struct MetricsToken: Sendable {
    private static let leastLength = 16
    private static let mostLength = 1024

    private let text: String

    /// Reads the token from a file, in which it is the only line: 16 to 1024 visible ASCII characters.
    init(file path: String) throws(ServerError) {
        guard let line = try SecretFile.line(path, limit: Self.mostLength) else {
            throw ServerError("There is no file '\(path)' for --metrics-token-file.")
        }
        guard (Self.leastLength...Self.mostLength).contains(line.count),
            line.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw ServerError(
                "The file of --metrics-token-file must have one line of \(Self.leastLength) to \(Self.mostLength) "
                    + "visible ASCII characters, such as 'openssl rand -hex 32' prints.")
        }
        text = String(decoding: line, as: UTF8.self)
    }

    func isIn(_ request: HTTPRequest) -> Bool {
        guard let field = request.fields["authorization"] else { return false }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
        return ConstantTime.areEqual(String(parts[1]), text)
    }
}
