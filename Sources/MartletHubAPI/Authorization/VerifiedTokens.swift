import MartletCrypto
import Synchronization

/// Tokens whose signature was found to be right, by their exact text: clients send the same one for minutes, and taking it
/// apart and computing its code anew takes a tenth of the time of a request.
///
/// Remembered is what the text says and whose keys signed it, and nothing that can change: expiry, address, the rule and
/// its keys are looked at with every request. Only a right signature takes room.
final class VerifiedTokens: Sendable {
    /// By the hash of the header, whose key is this process's own.
    private let tokens = Mutex<[Int: PresentedToken]>([:])
    private let countLimit: Int

    /// Longer headers, in bytes, are not remembered.
    private static let lengthLimit = 1024

    /// - Parameter countLimit: How many are remembered.
    init(countLimit: Int = 1000) {
        self.countLimit = countLimit
    }

    var count: Int { tokens.withLock(\.count) }

    /// The token of a header; nil for one that is not remembered.
    func token(_ header: String) -> PresentedToken? {
        guard header.utf8.count <= Self.lengthLimit else { return nil }
        let hash = header.hashValue
        guard let token = tokens.withLock({ $0[hash] }), ConstantTime.areEqual(token.header, header) else { return nil }
        return token
    }

    /// Begins anew where there are too many: who comes back is checked once more.
    func remember(_ token: PresentedToken) {
        guard token.header.utf8.count <= Self.lengthLimit else { return }
        let hash = token.header.hashValue
        tokens.withLock { tokens in
            if tokens.count >= countLimit { tokens = [:] }
            tokens[hash] = token
        }
    }
}
