import MartletHTTP
import MartletModel

/// Makes requests of messages as a send would, and throws them away: whatever a service's translator says of a message
/// is said here.
struct RequestTrial: Sendable {
    /// nil where there is nothing to send with; then nothing is tried.
    let service: (any PushService)?
    let token: String?
    let handles: [PushHandle]
    let expiry: Timestamp
    /// Whether the sender has said it; otherwise services are told none with a message.
    let statesExpiry: Bool
    let now: Timestamp

    /// A message as it would be sent.
    func prepared(_ message: Message, on platform: (any PushPlatform.Type)?) -> Message {
        guard statesExpiry, let platform else { return message }
        return platform.limited(message, to: expiry, at: now)
    }

    /// What is wrong with a message for the first of the handles that it is meant for; nil where nothing is.
    func problem(of message: Message) -> String? {
        guard let service else { return nil }
        guard !handles.isEmpty else { return refusal(of: message, by: service)?.description }
        for handle in handles {
            guard let error = refusal(of: message, by: service, to: handle) else { return nil }
            // Another handle may be one that the message is for.
            if error.kind != .unsuited, error.kind != .badHandle { return error.description }
        }
        return nil
    }

    /// What is wrong with a message for each of the handles: every sentence once, with the number of handles.
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
