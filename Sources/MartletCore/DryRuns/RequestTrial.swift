import MartletHTTP
import MartletModel

/// Makes the requests of messages as a send would, and discards them, to find the errors that the push service's
/// translator reports.
struct RequestTrial: Sendable {
    /// The push service; nil if there is none to send with, and then nothing is checked.
    let service: (any PushService)?
    let token: String?
    let handles: [PushHandle]
    let expiry: Timestamp
    /// Whether the sender has stated the expiry; otherwise messages carry no expiry.
    let statesExpiry: Bool
    let now: Timestamp

    /// Returns a message as it would be sent.
    func prepared(_ message: Message, on platform: (any PushPlatform.Type)?) -> Message {
        guard statesExpiry, let platform else { return message }
        return platform.limited(message, to: expiry, at: now)
    }

    /// Returns the problem of a message, made for the first handle that it suits; nil if there is no problem.
    func problem(of message: Message) -> String? {
        guard let service else { return nil }
        guard !handles.isEmpty else { return refusal(of: message, by: service)?.description }
        for handle in handles {
            guard let error = refusal(of: message, by: service, to: handle) else { return nil }
            // The message may suit another handle.
            if error.kind != .unsuited, error.kind != .badHandle { return error.description }
        }
        return nil
    }

    /// Returns the problems of a message with the handles. Each problem is listed once, with the number of handles it
    /// affects.
    func problemsOfEach(_ message: Message) -> [String] {
        guard let service else { return [] }
        var counts: [String: Int] = [:]
        for handle in handles {
            guard let error = refusal(of: message, by: service, to: handle) else { continue }
            counts[error.description, default: 0] += 1
        }
        return counts.sorted { $0.key < $1.key }.map { sentence, count in
            handles.count == 1 ? sentence : "\(count) of \(handles.count) handles: \(sentence)"
        }
    }

    private func refusal(
        of message: Message, by service: any PushService, to handle: PushHandle? = nil
    ) -> PushServiceError? {
        do throws(PushServiceError) {
            if let handle {
                try tryOut(message, service, Array(handle.text.utf8))
            } else if !type(of: service).handlesAreAddresses {
                _ = try service.shared(message, token: token, expiry: expiry, at: now)
            }
            return nil
        } catch {
            return error
        }
    }

    private func tryOut(
        _ message: Message, _ service: any PushService, _ handle: [UInt8]
    ) throws(PushServiceError) {
        try handle.withUnsafeBufferPointer { handle throws(PushServiceError) in
            var service = service
            if type(of: service).handlesAreAddresses { service = service.at(try service.origin(of: handle)) }
            var batch = RequestBatch(try service.shared(message, token: token, expiry: expiry, at: now))
            try service.append(handle, id: MessageID(high: 0, low: 0), message: message, to: &batch)
        }
    }
}
