import MartletCore
import MartletHTTP
import MartletModel
import Synchronization

/// Writes failed sign-ins and failed confirmations of a password to the audit log. `dailyLimit` limits their number.
///
/// A name that no operator has is replaced by `unknown`, because somebody may have typed a password into the field for
/// the name.
final class FailedSignIns: Sendable {
    /// The maximum number of entries in a day (UTC) for each operator, and for all unknown names together. The limits
    /// on attempts are stricter for one client, but many clients together could fill the disk.
    static let dailyLimit = 100
    /// The name that an entry has if the name is unknown. No operator has this name.
    static let unknown = "?"

    private struct Day {
        var number: Int64 = 0
        var counts: [String: Int] = [:]
        /// The newest entry of each name, with its answer.
        var newest: [String: (id: OperatorAction.ID, answer: Int)] = [:]
    }

    private let store: any OperatorStore
    private let today = Mutex(Day())

    init(store: any OperatorStore) {
        self.store = store
    }

    /// - Parameters:
    ///   - name: The name that was given.
    ///   - action: The action that was tried, such as `sign in`.
    func note(
        _ name: String, _ action: String, _ refusal: ConsoleRefusal, from request: HTTPRequest, at now: Timestamp
    ) async {
        switch refusal {
        case .badCredentials, .badCode, .badLink, .badSignIn, .providerRefused, .noRole, .disabled, .tooMany: break
        default: return
        }
        let known = Operator.isName(name) ? try? await store.operator(name) : nil
        let shown = known?.name ?? Self.unknown
        let isListed = today.withLock { today in
            let number = now.seconds / 86_400
            if today.number != number { today = Day(number: number) }
            today.counts[shown, default: 0] += 1
            return today.counts[shown, default: 0] <= Self.dailyLimit
        }
        // If nothing can be written, the caller gets the same refusal.
        let answer = refusal.status.code
        if isListed {
            let id = try? await store.begin(
                OperatorAction(
                    at: now, operatorName: shown, address: request.clientAddress, role: "", action: action,
                    answer: answer))
            if let id { today.withLock { $0.newest[shown] = (id, answer) } }
        } else if let newest = today.withLock({ $0.newest[shown] }) {
            // Rewrites the newest entry, so that this answer takes as long as a listed one. Otherwise its speed would
            // show whether the name is known.
            try? await store.end(newest.id, answer: newest.answer, subject: nil)
        }
    }
}
